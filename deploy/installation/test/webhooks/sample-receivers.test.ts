import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { eventually } from "@toolgate/testbed/eventually";
import { sign } from "@toolgate/webhook-signing/sign";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { isMissing, outputOf, type RunningSample, SAMPLES, startSample } from "./running-sample.ts";

const SECRET = "whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const NEXT_SECRET = "whsec_Hx4dHBsaGRgXFhUUExIREA8ODQwLCgkIBwYFBAMCAQA=";
const OTHER_SECRET = "whsec_////////////////////////////////////////////";
const MAX_BODY_BYTES = 262_144;
const COMPILE_DEADLINE_MS = 180_000;

const nowSeconds = () => Math.floor(Date.now() / 1000);
const eventText = (fields: object = {}) =>
  JSON.stringify({
    id: `evt_${randomUUID().replaceAll("-", "")}`,
    type: "tool.completed",
    api_version: "2026-11-01",
    created: "2026-09-21T14:13:19Z",
    workspace: "acme",
    data: { message: "Grüße, 東京 🚀" },
    ...fields,
  });

/** An event of exactly this many bytes, mostly two-byte characters. */
function eventOfBytes(bytes: number): string {
  const rest = bytes - Buffer.byteLength(eventText({ data: { text: "" } }));
  return eventText({ data: { text: "ü".repeat(Math.floor(rest / 2)) + "x".repeat(rest % 2) } });
}

type Sent = { body: string; signature?: string; delivery?: string };

async function send(sample: RunningSample, { body, signature, delivery = randomUUID() }: Sent): Promise<number> {
  const headers = {
    "content-type": "application/json",
    "x-service-delivery": delivery,
    ...(signature !== undefined && { "x-service-signature": signature }),
  };
  const response = await fetch(`${sample.url}/webhooks`, { method: "POST", headers, body: Buffer.from(body) });
  await response.arrayBuffer();
  return response.status;
}

const signed = (body: string, delivery?: string): Sent => ({
  body,
  signature: sign(SECRET, nowSeconds(), body),
  ...(delivery && { delivery }),
});

/** A signature of `body` with changes, such as another time or another secret. */
const signedBy = (secret: string, body: string, offsetSeconds = 0) => sign(secret, nowSeconds() + offsetSeconds, body);

const V1_OF_ZEROS = `v1=${"0".repeat(64)}`;
const withParts = (body: string, change: (parts: string[]) => string[]) =>
  change(signedBy(SECRET, body).split(",")).join(",");

const ACCEPTED: readonly [title: string, make: (body: string) => string][] = [
  ["[OUT-26] [OUT-27] a valid signature", (body) => signedBy(SECRET, body)],
  ["[OUT-9] a signature with the second of two secrets, during a rotation", (body) => signedBy(NEXT_SECRET, body)],
  ["[OUT-32] a time 290 s ago", (body) => signedBy(SECRET, body, -290)],
  ["[OUT-32] a time in 290 s", (body) => signedBy(SECRET, body, 290)],
  [
    "[OUT-22] several v1, the last of which matches",
    (body) => withParts(body, ([t, v1]) => [`${t}`, V1_OF_ZEROS, `${v1}`]),
  ],
  ["[OUT-22] several v1, the first of which matches", (body) => withParts(body, (parts) => [...parts, V1_OF_ZEROS])],
  [
    "[OUT-22] parts with other names, spaces, another order",
    (body) => withParts(body, ([t, v1]) => ["v0=x", ` ${v1}`, `${t} `]),
  ],
  [
    "[OUT-22] hexadecimal digits in upper case",
    (body) => withParts(body, ([t, v1]) => [`${t}`, `v1=${v1?.slice(3).toUpperCase()}`]),
  ],
];

const REFUSED: readonly [title: string, make: (body: string) => string | undefined][] = [
  ["[OUT-30] a signature of another body", (body) => signedBy(SECRET, body.replace("acme", "acmf"))],
  [
    "[OUT-30] a signature of the same JSON written otherwise",
    (body) => signedBy(SECRET, JSON.stringify(JSON.parse(body), null, 1)),
  ],
  ["[OUT-27] another secret", (body) => signedBy(OTHER_SECRET, body)],
  ["[OUT-27] the secret without its prefix", (body) => signedBy(SECRET.slice("whsec_".length), body)],
  ["[OUT-32] a time 310 s ago", (body) => signedBy(SECRET, body, -310)],
  ["[OUT-32] a time in 310 s", (body) => signedBy(SECRET, body, 310)],
  ["[OUT-32] a valid v1 under another time", (body) => withParts(body, ([, v1]) => [`t=${nowSeconds() - 1}`, `${v1}`])],
  ["[OUT-32] no time", (body) => withParts(body, ([, v1]) => [`${v1}`])],
  ["[OUT-32] two times", (body) => withParts(body, ([t, v1]) => [`${t}`, `${t}`, `${v1}`])],
  ["[OUT-32] a time that is not a number", (body) => withParts(body, ([, v1]) => ["t=now", `${v1}`])],
  ["[OUT-32] a time with a sign", (body) => withParts(body, ([t, v1]) => [`${t?.replace("=", "=+")}`, `${v1}`])],
  ["[OUT-22] no signature header", () => undefined],
  ["[OUT-22] an empty signature header", () => ""],
  ["[OUT-22] no v1", (body) => withParts(body, ([t]) => [`${t}`])],
  ["[OUT-31] a short v1", (body) => withParts(body, ([t, v1]) => [`${t}`, `${v1?.slice(0, -2)}`])],
  ["[OUT-31] a long v1", (body) => withParts(body, ([t, v1]) => [`${t}`, `${v1}00`])],
  ["[OUT-31] a v1 that is not hexadecimal", (body) => withParts(body, ([t]) => [`${t}`, `v1=${"z".repeat(64)}`])],
  [
    "[OUT-22] a signature under the name v0",
    (body) => withParts(body, ([t, v1]) => [`${t}`, `${v1?.replace("v1", "v0")}`]),
  ],
];

test("[OUT-26] [OUT-28] the test values in docs/receivers.md are right", async () => {
  const page = await readFile(new URL("../../../../docs/receivers.md", import.meta.url), "utf8");
  const section = page.split("### Test values")[1] ?? "";
  const value = (name: string) => section.split(`| ${name} | \``)[1]?.split("` |")[0] ?? "";
  const [secret, body, id] = [value("secret"), value("body"), value("`webhook-id`")];
  const time = Number(value("`t`, `webhook-timestamp`"));
  expect(value("`X-Service-Signature`")).toBe(sign(secret, time, body));
  expect(value("`webhook-signature`")).toBe(new Webhook(secret).sign(id, new Date(time * 1000), body));
});

describe.each(SAMPLES)("$name", (language) => {
  const { order, bounds, ownTests } = language;
  const missing = isMissing(language);
  if (missing) it.skip(`not run: ${language.interpreter[0]} is not on this machine`, () => undefined);

  describe.skipIf(missing)("the sample receiver", () => {
    let sample: RunningSample;
    beforeAll(async () => {
      sample = await startSample(language, { WEBHOOK_SECRET: `${SECRET}, ${NEXT_SECRET}` });
    }, COMPILE_DEADLINE_MS);
    afterAll(() => sample?.[Symbol.asyncDispose]());

    it.each(ACCEPTED)("%s is accepted", async (_title, make) => {
      const body = eventText();
      const delivery = randomUUID();
      expect(await send(sample, { body, signature: make(body), delivery })).toBe(204);
      await eventually(() => sample.lines().includes(`received ${delivery} ${JSON.parse(body).id} tool.completed`));
    });

    it.each(REFUSED)("%s is refused with 401 and not processed", async (_title, make) => {
      const body = eventText();
      const signature = make(body);
      expect(await send(sample, { body, ...(signature !== undefined && { signature }) })).toBe(401);
      expect(sample.lines().join("\n")).not.toContain(JSON.parse(body).id);
    });

    it("[OUT-30] a body with unusual JSON spelling is verified as received", async () => {
      const fields = eventText().slice(1, -1).replace("ü", "\\u00fc").replaceAll('":', '" : ');
      expect(await send(sample, signed(`{ ${fields},\n"amount": 1.50, "big": 12345678901234567890 }`))).toBe(204);
    });

    it("[OUT-30] a body of 256 KB with umlauts is verified by its bytes, one byte more is refused", async () => {
      expect(await send(sample, signed(eventOfBytes(MAX_BODY_BYTES)))).toBe(204);
      expect(await send(sample, signed(eventOfBytes(MAX_BODY_BYTES + 1)))).toBe(413);
      expect(await send(sample, signed(eventText()))).toBe(204);
    });

    it("[OUT-58] a repeated delivery gets a 2xx and is not processed again", async () => {
      const body = eventText();
      const delivery = randomUUID();
      expect(await send(sample, signed(body, delivery))).toBe(204);
      expect(await send(sample, signed(body, delivery))).toBe(204);
      await eventually(() => sample.lines().includes(`duplicate ${delivery}`));
      expect(sample.lines().filter((line) => line.startsWith(`received ${delivery}`))).toHaveLength(1);
    });

    it("[OUT-58] twenty simultaneous copies of one delivery are processed once", async () => {
      const body = eventText();
      const delivery = randomUUID();
      const statuses = await Promise.all(Array.from({ length: 20 }, () => send(sample, signed(body, delivery))));
      expect(new Set(statuses)).toEqual(new Set([204]));
      await eventually(() => sample.lines().filter((line) => line === `duplicate ${delivery}`).length === 19);
      expect(sample.lines().filter((line) => line.startsWith(`received ${delivery}`))).toHaveLength(1);
    });

    it("[OUT-59] a resend counts again by default, and once when the event id decides", async () => {
      await using byEvent = await startSample(language, { WEBHOOK_SECRET: SECRET, ONCE_BY_EVENT: "1" });
      const body = eventText();
      const { id } = JSON.parse(body);
      for (const [receiver, times] of [
        [sample, 2],
        [byEvent, 1],
      ] as const) {
        expect(await send(receiver, signed(body))).toBe(204);
        expect(await send(receiver, signed(body))).toBe(204);
        const of = (what: string) => receiver.lines().filter((line) => line.startsWith(what));
        await eventually(() => of("received").filter((line) => line.includes(id)).length === times);
        if (times === 1) await eventually(() => of("duplicate").length === 1);
      }
    });

    if (order) {
      it("[OUT-60] events are worked on in the order of their time", async () => {
        const events = [
          { id: "third", type: "custom.a", created: "2026-09-21T14:13:20Z" },
          { id: "first", type: "custom.a", created: "2026-09-21T14:13:18Z" },
          { id: "second", type: "custom.a", created: "2026-09-21T14:13:18.5Z" },
        ];
        const printed = await outputOf(language, order(JSON.stringify(events)));
        expect(JSON.parse(printed.split("\n").at(-1) ?? "")).toEqual(["first", "second", "third"]);
      });
    }

    if (bounds) {
      it("[OUT-58] the oldest ids are forgotten, and a delivery is refused while too many wait", async () => {
        const lines = (await outputOf(language, bounds)).split("\n");
        const said = lines.slice(0, -1).map((line) => line.split(" ").slice(0, 2).join(" "));
        expect(said).toEqual(["received a", "received b", "duplicate a", "received c", "received a"]);
        expect(JSON.parse(lines.at(-1) ?? "")).toEqual([204, 204, 204, 204, 204, 503]);
      });
    }

    if (ownTests) {
      it(
        "[OUT-58] [OUT-60] its own tests pass: order, bounded memory",
        () => outputOf(language, ownTests).then(() => undefined),
        COMPILE_DEADLINE_MS,
      );
    }

    it("[WVER-3] unknown fields are ignored", async () => {
      const body = eventText({ brand_new: { deep: [1, null, "x"] }, data: { also_new: true } });
      expect(await send(sample, signed(body))).toBe(204);
      await eventually(() => sample.lines().some((line) => line.includes(JSON.parse(body).id)));
    });

    it.each([
      ["not JSON", "{"],
      ["not an object", "[1]"],
      ["null", "null"],
      ["without an id", JSON.stringify({ type: "a", created: "2026-09-21T14:13:19Z" })],
      ["with an id that is not text", eventText({ id: 7 })],
      ["with a time that cannot be read", eventText({ created: "yesterday, perhaps" })],
      ["empty", ""],
    ])("[OUT-30] a signed body that is %s is refused with 400", async (_title, body) => {
      expect(await send(sample, signed(body))).toBe(400);
    });

    it("[OUT-58] a malformed delivery id is refused with 400, and a GET with 405", async () => {
      expect(await send(sample, signed(eventText(), "not a uuid"))).toBe(400);
      expect((await fetch(sample.url)).status).toBe(405);
    });

    it("[OUT-27] nothing is accepted without a secret", async () => {
      const body = eventText();
      await using without = await startSample(language, { WEBHOOK_SECRET: " , " }).catch(() => undefined);
      if (without) expect(await send(without, { body, signature: signedBy("", body) })).toBe(500);
    });

    it("[OUT-34] a receiver that was sent a broken request continues", async () => {
      expect(await send(sample, signed(eventText()))).toBe(204);
      expect(sample.isRunning()).toBe(true);
    });
  });
});
