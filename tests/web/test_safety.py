"""Who may not come in: no token, another Host or Origin, paths and zero bytes, stale cookies."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from outlying.errors import OptionError
from outlying.web.safety import POLICY, Credentials
from outlying.web.serving import Settings
from tests.serving import PATIENTS, Served, descendants, finished, opened, served

TABLES = "/api/v1/tables"
UPLOAD = f"{TABLES}?name=a.csv"
FILE = b"a,b\n1,2\n"


@pytest.fixture(scope="module")
def browser(server: Served) -> Iterator[httpx.Client]:
    """A client as a browser is: it has the cookie, and says where requests come from."""
    with httpx.Client(base_url=server.origin, follow_redirects=False, timeout=60) as client:
        assert client.get(f"/?token={server.token}").status_code == 303
        client.headers.update({"Origin": server.origin, "Sec-Fetch-Site": "same-origin"})
        yield client


def test_the_token_becomes_a_cookie_and_leaves_the_address(server: Served) -> None:
    answer = httpx.get(f"{server.origin}/t/patients?sort=age&token={server.token}")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/t/patients?sort=age"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert server.token not in answer.headers["set-cookie"]


def test_nobody_comes_in_without_the_token(server: Served) -> None:
    for path in ("/", TABLES, "/openapi.json", "/static/page.js", "/t/patients", "/nothing"):
        assert httpx.get(server.origin + path).status_code == 401
    wrong = {"Authorization": "Bearer wrong"}
    assert httpx.get(server.origin + TABLES, headers=wrong).status_code == 401
    assert httpx.get(f"{server.origin}/?token=wrong").status_code == 401
    assert httpx.get(f"{server.origin}/?token=").status_code == 401
    assert httpx.post(server.origin + UPLOAD, content=FILE).status_code == 403
    for cookie in ("", "outlying=x", f"outlying-{server.origin.rpartition(':')[2]}=x", "\x01;="):
        given = {b"Cookie": cookie.encode()}
        assert httpx.get(server.origin + TABLES, headers=given).status_code == 401


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:{}", ""]
)
def test_other_names_are_refused(server: Served, host: str) -> None:
    port = server.origin.rpartition(":")[2]
    headers = {"Host": host.format(port), "Authorization": f"Bearer {server.token}"}
    assert httpx.get(server.origin + TABLES, headers=headers).status_code == 403


def test_names_of_this_machine_are_known(server: Served) -> None:
    port = server.origin.rpartition(":")[2]
    for host in (f"localhost:{port}", f"LOCALHOST:{port}", f"[::1]:{port}"):
        headers = {"Host": host, "Authorization": f"Bearer {server.token}"}
        assert httpx.get(server.origin + TABLES, headers=headers).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_nothing_is_changed_from_another_site(
    browser: httpx.Client, headers: dict[str, str]
) -> None:
    for method, path in (
        ("POST", UPLOAD),
        ("DELETE", f"{TABLES}/patients"),
        ("POST", f"{TABLES}/patients/open"),
        ("POST", f"{TABLES}/patients/explanations"),
        ("DELETE", "/api/v1/jobs/x"),
        ("PUT", "/"),
    ):
        assert browser.request(method, path, headers=headers, content=FILE).status_code == 403


def test_a_cookie_alone_changes_nothing(server: Served, browser: httpx.Client) -> None:
    cookies = dict(browser.cookies)
    answer = httpx.post(server.origin + UPLOAD, cookies=cookies, content=FILE)
    assert answer.status_code == 403
    assert httpx.get(server.origin + TABLES, cookies=cookies).status_code == 200


def test_a_page_of_another_site_reads_nothing(browser: httpx.Client) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}
    assert browser.get(TABLES, headers=foreign).status_code == 403
    answer = browser.get(TABLES, headers={"Origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control")]
    assert browser.options(TABLES).status_code in (403, 405)


def test_every_answer_is_fenced_in(server: Served, browser: httpx.Client) -> None:
    for answer in (
        browser.get("/"),
        browser.get(TABLES),
        browser.get("/nothing"),
        httpx.get(server.origin),
        browser.get(f"{TABLES}/patients/rows?limit=x"),
    ):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"
        assert "server" not in answer.headers


@pytest.mark.parametrize(
    "path",
    [
        "/static/..%2f..%2fetc%2fpasswd",
        "/static/%2e%2e/pages.py",
        "/api/v1/tables/%2e%2e%2f%2e%2e%2fetc",
        "/api/v1/tables/a%00b",
        "/api/v1/tables/..%5c..%5cx",
        "/api/v1/jobs/%2e%2e%2fx/result",
        "/t/%2e%2e/row/1",
        "/api/v1/tables/patients/rows?search=a%00b",
        "/api/v1/tables/patients/rows?sort=%00",
        "/t/patients/row/1?exclude=%00",
    ],
)
def test_paths_and_zero_bytes_are_refused(browser: httpx.Client, path: str) -> None:
    assert browser.get(path).status_code == 400


@pytest.mark.parametrize("name", ["../a.csv", "a/b.csv", "..\\a.csv", "..", "", "/etc/passwd"])
def test_names_of_uploads_are_no_paths(browser: httpx.Client, name: str) -> None:
    answer = browser.post(TABLES, params={"name": name}, content=b"a,b\n1,2\n")
    assert answer.status_code == 400
    given = {"file": (name, b"a,b\n1,2\n")}
    assert browser.post(TABLES, files=given).status_code == 400


@pytest.mark.parametrize("field", ["table", "row", "format", "job"])
def test_no_field_leads_to_a_file(browser: httpx.Client, field: str) -> None:
    climbing = "..%2f..%2f..%2fetc%2fpasswd"
    path = {
        "table": f"/t/{climbing}",
        "row": f"/t/patients/row/{climbing}",
        "format": f"/api/v1/jobs/x/export?format={climbing}",
        "job": f"/api/v1/jobs/{climbing}/export",
    }[field]
    assert browser.get(path).status_code in (400, 404)
    body = json.dumps({"row": 1, "options": {"columns": ["a\0"]}}).encode()
    answer = browser.post(f"{TABLES}/patients/explanations", content=body)
    assert answer.status_code == 400


def test_a_server_for_others_needs_a_token() -> None:
    command = [sys.executable, "-m", "outlying", "serve", "--no-browser", "--host", "192.0.2.7"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "--token" in done.stderr
    assert not done.stdout


def test_a_token_with_signs_of_addresses_opens_the_page() -> None:
    with served(options=("--token", "a&b=c#d e+f%41/?")) as server:
        answer = httpx.get(server.address, timeout=60)
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_server_for_all_goes_by_the_address_that_is_asked() -> None:
    token = "long enough, at last"  # noqa: S105
    with served(options=("--host", "0.0.0.0", "--token", token)) as server:  # noqa: S104
        port = server.address.split("/?")[0].rpartition(":")[2]
        origin, known = f"http://127.0.0.2:{port}", {"Authorization": f"Bearer {token}"}
        assert httpx.get(origin + TABLES, headers=known, timeout=60).status_code == 200
        sent = httpx.post(origin + UPLOAD, headers=known | {"Origin": origin}, content=FILE)
        assert sent.status_code == 202
        page = httpx.get(origin, headers=known).text
        assert "goes to the computer that serves this page" in page
        assert "this computer" not in page
        for host in (f"127.0.0.3:{port}", f"evil.example:{port}", "127.0.0.2"):
            foreign = known | {"Host": host}
            assert httpx.get(origin + TABLES, headers=foreign).status_code == 403
        foreign = known | {"Origin": f"http://127.0.0.3:{port}"}
        assert httpx.post(origin + UPLOAD, headers=foreign, content=FILE).status_code == 403


def test_a_proxy_goes_by_its_own_name() -> None:
    known = Credentials.of(None, ["127.0.0.1", "::1"], 8000, ["odd.example"])
    assert known.hosts == {"127.0.0.1:8000", "[::1]:8000", "odd.example:8000", "odd.example"}
    assert "https://odd.example" in known.origins
    assert "https://127.0.0.1:8000" not in known.origins


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "128.0.0.1"])  # noqa: S104
def test_only_this_machine_needs_none(host: str) -> None:
    for token in (None, "", "short", "fifteen letters", "a line\nbroken in two"):
        with pytest.raises(OptionError, match="--token"):
            Settings(host=host, token=token).check()
    Settings(host=host, token="sixteen letters!").check()  # noqa: S106
    for own in ("127.0.0.1", "localhost", "::1", "127.1.2.3"):
        Settings(host=own).check()
        assert Settings(host=own).is_local
    assert not Settings(host=host).is_local
    assert not Settings(names=("odd.example",)).is_local  # a proxy lets others in


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder whose path is short, so that a socket has room in it."""
    with tempfile.TemporaryDirectory(prefix="short-", dir="/tmp") as folder:
        yield Path(folder)


def _private(folder: Path) -> Path:
    (found,) = folder.glob("outlying-serve-*")
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    return found


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def _gone(condition: object, seconds: float = 10) -> bool:
    end = time.monotonic() + seconds
    while condition() and time.monotonic() < end:  # type: ignore[operator]
        time.sleep(0.05)
    return not condition()  # type: ignore[operator]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_nothing_is_left_after_a_signal_and_nothing_open_after_a_kill(short: Path) -> None:
    with served(PATIENTS, folder=short) as first:
        with first.client() as client:
            opened(client, "patients")
            client.post(TABLES, params={"name": "a.csv"}, content=b"a,b\n1,2\n3,4\n")
            cookie = {"Cookie": httpx.get(first.address).headers["set-cookie"].split(";")[0]}
        private, workers = _private(short), descendants(first.process.pid)
        assert _files(private)
        for path in _files(private):
            assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
        assert stat.S_IMODE(private.stat().st_mode) == 0o700
        assert _gone(lambda: any(Path(f"/proc/{pid}").exists() for pid in workers))
    port = first.origin.rpartition(":")[2]
    options = ("--port", port, "--token", first.token)
    with served(PATIENTS, folder=short, options=options) as second:
        assert not private.exists()
        assert [path.name for path in short.iterdir()] == [_private(short).name]
        assert httpx.get(second.origin + TABLES, headers=cookie).status_code == 401  # stale
        with second.client() as client:
            job = client.post(f"{TABLES}/patients/open").json()
            finished(client, job)
            client.post(f"{TABLES}/patients/detections", json={"top": 5})
        workers = descendants(second.process.pid)
        assert second.stop(signal.SIGTERM) == 0
        assert not list(short.iterdir())
        assert _gone(lambda: any(Path(f"/proc/{pid}").exists() for pid in workers))


def test_another_folder_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlying.sources.copies import PrivateFolder
    from outlying.web.sourcing import new_path

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with PrivateFolder("serve") as running:
        for name, mode in (("outlying-serve-open", 0o755), ("outlying-serve-bare", 0o700)):
            (tmp_path / name).mkdir(mode=mode)
        (tmp_path / "outlying-serve-open" / "lock").touch()
        (tmp_path / "outlying-serve-link").symlink_to(os.fspath(running))
        with PrivateFolder("serve") as other:
            assert running.exists()
            assert (tmp_path / "outlying-serve-open").exists()
            assert (tmp_path / "outlying-serve-bare").exists()
            assert new_path(other, ".csv") != new_path(other, ".csv")
        assert not other.exists()
    assert not running.exists()
