"""The web page and its API: requests -> service -> worker processes that explain -> pages, JSON.

`app` puts the parts together, `safety` stands at the door, `service` is what pages and API call;
`worker` is the process that holds one table. Nothing here computes: the library does, by its API.
"""
