"""The web page and its API: requests -> service -> worker processes that explain -> pages, JSON.

`serving` puts the parts together, `safety` says who may ask, `service` is what pages and API call;
`worker` is the process that holds one table. Nothing here computes: the library does, by its API.
"""
