import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  Cap,
  DeliveryKind,
  DeliverySchema,
  DeliveryStatus,
  Wait,
} from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";
import { describe, expect, test } from "vitest";
import { deliverySentence, hasEnded } from "./delivery-sentence.ts";
import { spanText, tookText } from "./duration.ts";

const NOW = 1_800_000_000_000;
const after = (ms: number) => timestampFromMs(NOW + ms);
const sentence = (delivery: MessageInitShape<typeof DeliverySchema>) =>
  deliverySentence(create(DeliverySchema, { kind: DeliveryKind.EVENT, ...delivery }), NOW);

const { PENDING, RETRYING, DELIVERED, FAILED, CANCELLED } = DeliveryStatus;
const FAULT = { responseCode: 500, durationMs: 812, error: "status 500" };
const REFUSED = { durationMs: 3, error: "connection error: the connection was refused" };
const RETRY = { status: RETRYING, attempts: 3, waitsFor: Wait.RETRY, nextAttemptAt: after(240_000) };
const DUE = { status: PENDING, waitsFor: Wait.SLOT };

describe("[OUT] what a delivery says about itself", () => {
  test.each([
    [
      "a retry that waits",
      { ...FAULT, ...RETRY },
      "Your server answered 500 after 812 ms. Attempt 3 of 6; next in 4 min.",
    ],
    [
      "a retry under way",
      { ...FAULT, status: RETRYING, attempts: 1, waitsFor: Wait.IN_FLIGHT },
      "Your server answered 500 after 812 ms. Attempt 2 of 6 is under way.",
    ],
    [
      "a retry that is due, behind the endpoint's cap",
      { ...FAULT, ...DUE, status: RETRYING, attempts: 2, waitsSince: after(-90_000), fullCap: Cap.ENDPOINT },
      "Your server answered 500 after 812 ms. Attempt 3 of 6 has been due for 2 min: this endpoint already has its maximum of attempts under way.",
    ],
    ["a first attempt under way", { status: PENDING, waitsFor: Wait.IN_FLIGHT }, "The first attempt is under way."],
    ["a new delivery", { ...DUE, waitsSince: after(-500) }, "The first attempt is about to start."],
    ["a delivery whose wait is not known", { status: PENDING }, "The first attempt is about to start."],
    [
      "a delivery behind older ones",
      { ...DUE, waitsSince: after(-20_000) },
      "The first attempt has been due for 20 s: older deliveries go first.",
    ],
    [
      "a delivery behind the workspace's cap",
      { ...DUE, waitsSince: after(-20_000), fullCap: Cap.WORKSPACE },
      "The first attempt has been due for 20 s: the workspace already has its maximum of attempts under way.",
    ],
    [
      "a delivery to a failing endpoint",
      { ...DUE, waitsSince: after(-20_000), fullCap: Cap.FAILING_ENDPOINTS },
      "The first attempt has been due for 20 s: this endpoint failed or was slow last time, so it shares a few slots with others like it.",
    ],
  ])("%s", (_name, delivery, expected) => expect(sentence(delivery)).toBe(expected));

  test.each([
    [
      "a success",
      { status: DELIVERED, attempts: 1, responseCode: 204, durationMs: 35 },
      "Your server answered 204 after 35 ms. Delivered on the first attempt.",
    ],
    [
      "a late success",
      { status: DELIVERED, attempts: 4, responseCode: 200, durationMs: 35 },
      "Your server answered 200 after 35 ms. Delivered on attempt 4 of 6.",
    ],
    [
      "a test that arrived",
      { status: DELIVERED, attempts: 1, kind: DeliveryKind.TEST, responseCode: 200, durationMs: 35 },
      "Your server answered 200 after 35 ms. The test was delivered.",
    ],
    [
      "the last failure",
      { ...FAULT, status: FAILED, attempts: 6 },
      "Your server answered 500 after 812 ms. That was attempt 6 of 6: it is not retried.",
    ],
    [
      "410",
      { status: FAILED, attempts: 2, responseCode: 410, durationMs: 9, error: "gone" },
      "Your server answered 410 after 9 ms. 410 means “gone”, so it is not retried after attempt 2 of 6.",
    ],
    [
      "a test that failed",
      { ...REFUSED, status: FAILED, attempts: 1, kind: DeliveryKind.TEST },
      "Your server refused the connection. A test is tried only once.",
    ],
    [
      "a cancelled delivery",
      { ...FAULT, status: CANCELLED, attempts: 2 },
      "Your server answered 500 after 812 ms. Cancelled after attempt 2 of 6: the endpoint was deactivated or deleted.",
    ],
    [
      "a cancelled replay",
      { status: CANCELLED, kind: DeliveryKind.REPLAY },
      "Cancelled before the first attempt: its replay was cancelled, or the endpoint was deactivated or deleted.",
    ],
  ])("%s has ended", (_name, delivery, expected) => {
    expect(sentence(delivery)).toBe(expected);
    expect(hasEnded(delivery)).toBe(true);
  });

  test.each([
    [{ responseCode: 302, durationMs: 12 }, "Your server answered 302 after 12 ms. Redirects are not followed."],
    [REFUSED, "Your server refused the connection."],
    [
      { error: "connection error: the host name does not resolve" },
      "Nothing was sent: the endpoint's host name does not resolve.",
    ],
    [
      { error: "connection error: the response is not valid HTTP/1.1" },
      "Your server gave no answer: the response is not valid HTTP/1.1.",
    ],
    [{ error: "timeout (dns)", durationMs: 10_000 }, "Your server's name did not resolve within 10 s."],
    [{ error: "timeout (connect)", durationMs: 10_000 }, "Your server did not accept the connection within 10 s."],
    [{ error: "timeout (tls)", durationMs: 10_000 }, "Your server did not finish the TLS handshake within 10 s."],
    [{ error: "timeout (send)", durationMs: 10_000 }, "Your server did not read the request within 10 s."],
    [{ error: "timeout (headers)", durationMs: 10_012 }, "Your server did not answer within 10 s."],
    [
      { error: "target address not allowed" },
      "Nothing was sent: the endpoint's host name leads to an address that is not public.",
    ],
    [{ error: "target URL not allowed" }, "Nothing was sent: webhooks may not be sent to this URL."],
    [{ error: "something new" }, "Nothing was sent: something new."],
  ])("an attempt with %o", (attempt, expected) =>
    expect(sentence({ ...RETRY, ...attempt })).toBe(`${expected} Attempt 3 of 6; next in 4 min.`),
  );

  test("durations and waits are as short as they can be read", () => {
    expect([812, 1_000, 2_540, 61_000].map(tookText)).toEqual(["812 ms", "1 s", "2.5 s", "61 s"]);
    const minute = 60_000;
    const spans = [-5, 400, 59_500, minute, 90 * minute, 120 * minute, 710 * minute];
    expect(spans.map(spanText)).toEqual(["0 s", "1 s", "1 min", "1 min", "1 h 30 min", "2 h", "11 h 50 min"]);
  });
});
