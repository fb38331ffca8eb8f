"""Routes of the page: the form, the cookie, the pages, GraphQL. No script is sent, and none would run."""

import functools
import json
import logging
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import FastAPI, Form, Query, Request, Response
from fastapi.responses import FileResponse, HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool
from starlette.middleware.trustedhost import TrustedHostMiddleware

from workbench import access
from workbench._base.errors import ArgumentError, WorkbenchError
from workbench_ops.access.page import rows, schema, users
from workbench_ops.access.page.cursors import Cursors
from workbench_ops.access.page.schema import Asker, sentence
from workbench_ops.access.page.sessions import Sessions, Tries, same
from workbench_ops.access.page.sharing import Shared

COOKIE = "workbench_access"
LARGEST_BODY = 65_536  # bytes of a form or a question
SIZES = (10, 20, 50, 100, 500)  # rows of a page, to choose from
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
WRONG = "the name or the password is wrong"
STALE = "this form is not one of this page, or too old; try again"
TEMPLATES = Path(__file__).parent / "templates"
_templates = Environment(
    loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
    lstrip_blocks=True,
)  # fmt: skip
log = logging.getLogger("workbench.access")


def build(shared: Shared, *, behind: str | None = None) -> FastAPI:
    """Return the application.

    Args:
        shared: what is shared, and with whom.
        behind: address of the page in browsers, https://…, where a proxy ends TLS before it: forms must come from
            there, and browsers send the cookie by HTTPS alone. None where they reach the page itself.

    Raises:
        ArgumentError: it is not such an address.
        Closed: the file of users cannot be read.
    """
    hosts = ["127.0.0.1", "localhost", *([] if behind is None else [_host(behind)])]
    shared.people()
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=hosts)
    app.middleware("http")(functools.partial(_guarded, behind))
    page = _Page(shared, secure=behind is not None)
    app.add_api_route("/", page.start, methods=["GET"], response_class=HTMLResponse)
    app.add_api_route("/log-in", page.log_in, methods=["POST"])
    app.add_api_route("/log-out", page.log_out, methods=["POST"])
    app.add_api_route("/table", page.table, methods=["GET"], response_class=HTMLResponse)
    app.add_api_route("/graphql", page.graphql, methods=["POST"])
    app.add_api_route("/style.css", _style, methods=["GET"])
    return app


def _host(address: str) -> str:
    """Return the host of an address that browsers have; refuse one that they would write otherwise."""
    parts = re.fullmatch(r"https://([a-z0-9]([a-z0-9.-]*[a-z0-9])?)(:[0-9]{1,5})?", address)
    if parts is None or parts[3] == ":443":
        raise ArgumentError(
            f"the address of the page in browsers is one as https://shared.example.org, in small letters, "
            f"without a path and without the port 443; found {address!r}"
        )
    return parts[1]


async def _guarded(
    behind: str | None, request: Request, call_next: Callable[[Request], Awaitable[Response]]
) -> Response:
    """Refuse what is too large or comes from another page, and send with every answer what a browser may do."""
    length = request.headers.get("content-length", "0")
    origin = request.headers.get("origin")
    ours = behind or f"{request.url.scheme}://{request.headers.get('host')}"
    if not length.isdecimal() or int(length) > LARGEST_BODY or "transfer-encoding" in request.headers:
        response: Response = HTMLResponse(_shown("refused.html.j2", reason="this is more than may be sent"), 413)
    elif request.method == "POST" and origin not in (None, ours):
        response = HTMLResponse(_shown("refused.html.j2", reason=STALE), 403)
    else:
        try:
            response = await call_next(request)
        except Exception as error:  # a defect of ours, or a reader who looks for one
            response = HTMLResponse(_shown("refused.html.j2", reason=sentence(error)), 503)
    for name, value in HEADERS.items():
        response.headers[name] = value
    return response


def _style() -> FileResponse:
    return FileResponse(TEMPLATES / "style.css", media_type="text/css")


def _shown(template: str, **values: Any) -> str:
    return _templates.get_template(template).render(**values)


class _Page:
    """The routes, with what they share: sessions, wrong tries, places in tables."""

    def __init__(self, shared: Shared, *, secure: bool) -> None:
        self.shared, self.secure = shared, secure
        self.cookie = f"__Host-{COOKIE}" if secure else COOKIE  # which no other host of the domain can set
        self.sessions, self.tries, self.cursors = Sessions(), Tries(), Cursors()
        self.nobody = users.hashed("")  # tried for an unknown name, which so takes as long as a wrong password

    def _asker(self, request: Request) -> Asker | None:
        """Return who asks; a user who is gone or has another password since the log-in is nobody."""
        token = request.cookies.get(self.cookie)
        session = self.sessions.find(token)
        if session is None or session.user is None:
            return None
        user = self.shared.people().get(session.user)
        if user is None or user.password != session.password:
            self.sessions.end(token)
            return None
        return Asker(user, session.csrf, self.shared, self.cursors)

    def _form(self, request: Request, *, said: str = "", status: int = 200) -> HTMLResponse:
        """Return the form to log in, with a session of its own."""
        token, session = self.sessions.begin()
        response = HTMLResponse(_shown("log_in.html.j2", csrf=session.csrf, said=said), status)
        self._remember(response, token)
        return response

    def _remember(self, response: Response, token: str) -> None:
        response.set_cookie(self.cookie, token, httponly=True, samesite="strict", secure=self.secure, path="/")

    def start(self, request: Request) -> Response:
        """Show the form, or the tables that a reader may open."""
        try:
            asker = self._asker(request)
            if asker is None:
                return self._form(request)
            names = self.shared.names(asker.user.principal)
        except WorkbenchError as error:
            return _refused(error)
        return HTMLResponse(_shown("tables.html.j2", user=asker.user, csrf=asker.csrf, names=names))

    def log_in(
        self,
        request: Request,
        name: Annotated[str, Form()] = "",
        password: Annotated[str, Form()] = "",
        csrf: Annotated[str, Form()] = "",
    ) -> Response:
        """Log in: a new session in place of the one that had the form."""
        token = request.cookies.get(self.cookie)
        session = self.sessions.find(token)
        if session is None or not same(csrf, session.csrf):
            return self._form(request, said=STALE, status=403)
        if seconds := self.tries.begin(name):
            return self._form(request, said=f"too many wrong passwords; wait {seconds:.0f} seconds", status=429)
        try:
            user = self.shared.people().get(name)
        except WorkbenchError as error:
            return _refused(error)
        right = users.fits(password, user.password if user else self.nobody)
        if user is None or not right:
            log.warning("a log-in as %r was refused", name[:100])
            return self._form(request, said=WRONG, status=401)
        self.tries.right(name)
        self.sessions.end(token)
        log.info("%s logged in as %s", user.name, user.principal)
        response = RedirectResponse("/", 303)
        self._remember(response, self.sessions.begin(user.name, user.password)[0])
        return response

    def log_out(self, request: Request, csrf: Annotated[str, Form()] = "") -> Response:
        """Log out: the session ends at the server."""
        token = request.cookies.get(self.cookie)
        session = self.sessions.find(token)
        if session is not None and not same(csrf, session.csrf):
            return HTMLResponse(_shown("refused.html.j2", reason=STALE), 403)
        self.sessions.end(token)
        response = RedirectResponse("/", 303)
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="strict", secure=self.secure)
        return response

    def table(
        self,
        request: Request,
        name: str,
        order: str = "",
        down: bool = False,
        complete: bool = False,
        size: Annotated[int, Query(ge=1, le=rows.MOST)] = 20,
        after: str | None = None,
    ) -> Response:
        """Show rows of a table, hidden cells marked, each with the reason at a click."""
        try:
            asker = self._asker(request)
            if asker is None:
                return self._form(request, said="log in first", status=403)
            keys = ((order, down),) if order else ()
            answer, following = schema.read(asker, name, order=keys, first=size, complete=complete, after=after)
            names = self.shared.names(asker.user.principal)
        except WorkbenchError as error:
            return _refused(error)
        columns = [(each.name, each.type, access.described(each.condition)) for each in answer.decision.visible]
        choice = {"name": name, "order": order, "size": size}
        choice |= {"down": "true"} if down else {}
        choice |= {"complete": "true"} if complete else {}
        text = _shown(
            "table.html.j2", user=asker.user, csrf=asker.csrf, names=names, name=name, columns=columns,
            orderable=rows.orderable(answer.decision), order=order, down=down, complete=complete, size=size,
            sizes=SIZES, part=answer.part, cells=len(answer.part.rows) * len(columns),
            hidden_cells=sum(cell.hidden for row in answer.part.rows for cell in row),
            snapshot_id=answer.snapshot_id, begin=f"/table?{urlencode(choice)}",
            following=following and f"/table?{urlencode(choice | {'after': following})}",
        )  # fmt: skip
        return HTMLResponse(text)

    async def graphql(self, request: Request) -> Response:
        """Answer a question in GraphQL; the session's CSRF field comes as the header X-CSRF."""
        try:
            asker = self._asker(request)
            if asker is None:
                return _errors("log in first", 403)
            if not same(request.headers.get("x-csrf"), asker.csrf):
                return _errors(STALE, 403)
            question = await request.json()
        except WorkbenchError as error:
            return _errors(sentence(error), 503)
        except (ValueError, RecursionError):
            return _errors("expected JSON with the key query", 400)
        if not isinstance(question, dict) or not isinstance(question.get("query"), str):
            return _errors("expected JSON with the key query", 400)
        if question["query"].count("...") > schema.MOST_SPREADS:
            return _errors(f"a question has at most {schema.MOST_SPREADS} fragments that are used", 400)
        variables = question.get("variables")
        if not isinstance(variables, dict | None):
            return _errors("variables must be names and values", 400)
        return _json(await run_in_threadpool(schema.answer, question["query"], variables, asker))


def _errors(reason: str, status: int) -> Response:
    return _json({"errors": [{"message": reason}]}, status)


def _json(content: dict[str, Any], status: int = 200) -> Response:
    """Return JSON in ASCII alone: half of a surrogate pair, which a question may hold, has no other form."""
    return Response(json.dumps(content), status, media_type="application/json")


def _refused(error: WorkbenchError) -> HTMLResponse:
    status = 404 if isinstance(error, access.NothingVisible) else 503 if sentence(error) != str(error) else 400
    return HTMLResponse(_shown("refused.html.j2", reason=sentence(error)), status)
