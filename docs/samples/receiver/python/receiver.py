"""Receives Toolgate's webhooks. Python 3.9 or newer, no packages:

    WEBHOOK_SECRET=whsec_… PORT=3000 python3 receiver.py

Run it behind a proxy that terminates TLS. During a secret rotation, give both secrets, separated by a comma.
"""

import hashlib
import hmac
import json
import os
import re
import threading
import time
from collections import OrderedDict
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 262_144
MAX_REMEMBERED = 100_000
MAX_WAITING = 10_000
WORK_EVERY_SECONDS = 0.2
REQUEST_TIMEOUT_SECONDS = 10
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def verify(secrets, header, raw_body, now=None):
    """True when one of the secrets signed raw_body (the exact bytes received) within five minutes of now.

    The key is the whole secret, including whsec_. If you use a Standard Webhooks library, verify the headers webhook-id,
    webhook-timestamp and webhook-signature instead of this one.
    """
    parts = [part.strip() for part in (header or "").split(",")]
    times = [part[2:] for part in parts if part.startswith("t=")]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,15}", times[0]):
        return False
    if abs((int(time.time()) if now is None else now) - int(times[0])) > TOLERANCE_SECONDS:
        return False
    given = [bytes.fromhex(part[3:]) for part in parts if re.fullmatch(r"v1=[0-9a-fA-F]{64}", part)]
    signed = times[0].encode() + b"." + raw_body
    expected = [hmac.new(secret.encode(), signed, hashlib.sha256).digest() for secret in secrets]
    return any(hmac.compare_digest(one, other) for one in expected for other in given)


def created_at(event):
    return datetime.fromisoformat(event["created"].replace("Z", "+00:00")).timestamp()


def in_order(events):
    """Deliveries arrive in any order. If order matters, sort by the time of the event."""
    return sorted(events, key=created_at)


def parse_event(raw_body):
    """The event in a verified body; None if it is not one. Unknown fields are ignored."""
    try:
        event = json.loads(raw_body)
        created_at(event)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return event if isinstance(event.get("id"), str) and isinstance(event.get("type"), str) else None


class Inbox:
    """Accepted events that wait to be processed, and the ids of earlier ones.

    Both are lost when the process stops: if no event may be lost or processed twice, store its id and the event in one
    database transaction before you respond.
    """

    def __init__(self, once_by_event=False):
        self._once_by_event = once_by_event
        self._lock = threading.Lock()
        self._known = OrderedDict()
        self._waiting = []

    def accept(self, delivery, event):
        """Accepts a verified event and returns the HTTP status."""
        # A delivery keeps its id on every retry; a resend by hand has a new one and keeps the id of the event.
        key = event["id"] if self._once_by_event else delivery
        with self._lock:
            if key in self._known:
                print("duplicate", delivery, flush=True)
                return 204
            if len(self._waiting) >= MAX_WAITING:
                return 503  # Toolgate retries later
            self._waiting.append(event)
            self._known[key] = None
            if len(self._known) > MAX_REMEMBERED:
                self._known.popitem(last=False)
        print("received", delivery, event["id"], event["type"], flush=True)
        return 204

    def take(self):
        """Removes and returns the waiting events, oldest first."""
        with self._lock:
            taken, self._waiting = self._waiting, []
        return in_order(taken)


def handler_for(secrets, inbox):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = REQUEST_TIMEOUT_SECONDS

        def do_POST(self):
            length = self.headers.get("Content-Length", "")
            if not re.fullmatch(r"[0-9]{1,15}", length):
                return self.respond(411, close=True)
            if int(length) > MAX_BODY_BYTES:
                return self.respond(413, close=True)
            raw_body = self.rfile.read(int(length))
            if not verify(secrets, self.headers.get("X-Service-Signature"), raw_body):
                return self.respond(401)
            event = parse_event(raw_body)
            delivery = self.headers.get("X-Service-Delivery", "")
            if event is None or not UUID.fullmatch(delivery):
                return self.respond(400)
            return self.respond(inbox.accept(delivery, event))

        def respond(self, status, close=False):
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", "0")
            if close:
                self.send_header("Connection", "close")
            self.end_headers()

        def do_GET(self):
            self.respond(405)

        def log_message(self, format, *args):
            pass

    return Handler


def work(inbox):
    while True:
        time.sleep(WORK_EVERY_SECONDS)
        for event in inbox.take():
            print("worked", event["id"], flush=True)  # your own processing, after the response


def main():
    secrets = [part.strip() for part in os.environ.get("WEBHOOK_SECRET", "").split(",") if part.strip()]
    if not secrets:
        raise SystemExit("WEBHOOK_SECRET is missing")
    inbox = Inbox(once_by_event=os.environ.get("ONCE_BY_EVENT") == "1")
    address = (os.environ.get("HOST", "127.0.0.1"), int(os.environ.get("PORT", "3000")))
    server = ThreadingHTTPServer(address, handler_for(secrets, inbox))
    threading.Thread(target=work, args=(inbox,), daemon=True).start()
    print("listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
