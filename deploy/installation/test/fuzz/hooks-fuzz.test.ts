import { createHmac } from "node:crypto";
import { env } from "node:process";
import { eventually } from "@toolgate/testbed/eventually";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createHook, ECHO, type TestHook } from "../hooks/hooks.ts";
import { type RunningToolgate, runToolgate } from "../running-toolgate.ts";

/** The same seed makes the same calls. */
const SEED = Number(env.FUZZ_SEED ?? 1);
const CALLS = Number(env.FUZZ_CALLS ?? 6_000);
const DEADLINE_MS = 60_000 + CALLS * 30;
const MAX_BODY_BYTES = 262_144;

const PROVIDED_SECRET = "secret-of-the-provider";
const hmac = (secret: string, signed: string, body: Buffer, encoding: "hex" | "base64" = "hex") =>
  createHmac("sha256", secret).update(signed).update(body).digest(encoding);
type Headers = Record<string, string>;
type Proof = (secret: string, body: Buffer, t: number) => Headers;

/** What a sender of each format must know, written from the documentation, and not with the code that verifies it. */
const FORMATS: readonly (readonly [hook: Record<string, string>, proof: Proof])[] = [
  [
    { format: "HOOK_FORMAT_NATIVE" },
    (secret, body, t) => ({ "x-service-signature": `t=${t},v1=${hmac(secret, `${t}.`, body)}` }),
  ],
  [
    { format: "HOOK_FORMAT_PROCESSOR", preset: "HOOK_PRESET_STRIPE", providerSecret: PROVIDED_SECRET },
    (secret, body, t) => ({ "stripe-signature": `t=${t},v0=${"0".repeat(64)},v1=${hmac(secret, `${t}.`, body)}` }),
  ],
  [
    { format: "HOOK_FORMAT_SHOP", preset: "HOOK_PRESET_SHOPIFY", providerSecret: PROVIDED_SECRET },
    (secret, body) => ({ "x-shopify-hmac-sha256": hmac(secret, "", body, "base64") }),
  ],
  [
    { format: "HOOK_FORMAT_GITHUB", providerSecret: PROVIDED_SECRET },
    (secret, body) => ({ "x-hub-signature-256": `sha256=${hmac(secret, "", body)}` }),
  ],
  [
    { format: "HOOK_FORMAT_BEARER" },
    (secret, body) => ({ authorization: `Bearer ${secret}`, "x-delivery-id": hmac("id", "", body) }),
  ],
  [
    { format: "HOOK_FORMAT_STANDARD_WEBHOOKS" },
    (secret, body, t) => ({
      "webhook-id": "m",
      "webhook-timestamp": String(t),
      "webhook-signature": new Webhook(secret).sign("m", new Date(t * 1000), body.toString("utf8")),
    }),
  ],
];

let toolgate: RunningToolgate;
const hooks: (TestHook & { proof: Proof })[] = [];
const accepted = new Set<string>();
beforeAll(async () => {
  toolgate = await runToolgate("single", { env: { TRUSTED_PROXIES: "127.0.0.1", RUNS_PER_WORKSPACE: "32" } });
  await toolgate.saveTool("echo", ECHO);
  for (const [request, proof] of FORMATS) {
    const made = await createHook(toolgate, request);
    hooks.push({ ...made, secret: made.secret || PROVIDED_SECRET, proof });
  }
}, 120_000);
afterAll(() => toolgate?.[Symbol.asyncDispose]());

/** Text that is UTF-8, because the library for Standard Webhooks signs no other. */
const text = fc.string({ unit: "grapheme", maxLength: 20 });
const member = fc.oneof(
  text,
  fc.constantFrom("text", "payload", "_webhook", "__proto__", "constructor", "a/b", "\u0000"),
);
const object = fc
  .dictionary(member, fc.jsonValue({ noUnicodeString: false }), { maxKeys: 5 })
  .map((value) => JSON.stringify(value));
const odd = fc.constantFrom("", "[]", "null", "{", "{]", '{"a":1e999}', "\ufeff{}", "{}{}", "[".repeat(50_000));
const size = fc.constantFrom(-1, 0, 1).map((over) => {
  const start = '{"text":"';
  return `${start}${"x".repeat(MAX_BODY_BYTES + over - start.length - 2)}"}`;
});
const body = fc.oneof(
  { weight: 20, arbitrary: object },
  { weight: 4, arbitrary: odd },
  { weight: 4, arbitrary: text },
  size,
);
const spoiled = fc.oneof(
  { weight: 6, arbitrary: fc.constant(undefined) },
  fc.constantFrom("missing", "of another body", "of another secret", "with a changed character", "too old"),
);
const changes = fc.constantFrom({}, { hop: "2" }, { method: "PUT" }, { suffix: "x" }, { encoding: "gzip" });

/** The response that a call gets by its headers alone, in the order of the checks; undefined: that of its body. */
function refusalOf(
  change: { hop?: string; method?: string; suffix?: string; encoding?: string },
  isSpoiled: boolean,
  bytes: number,
): number | undefined {
  if (change.method) return 405;
  if (change.suffix) return 404;
  if (change.hop) return 508;
  if (bytes > MAX_BODY_BYTES) return 413;
  if (isSpoiled) return 401;
  return change.encoding ? 400 : undefined;
}

test(`[IN-27] [IN-24] ${CALLS} random calls (seed ${SEED}): no internal error, and none is accepted without proof`, {
  timeout: DEADLINE_MS,
}, async () => {
  let calls = 0;
  const seen = new Set<number>();
  const call = fc.record({ hook: fc.nat(FORMATS.length - 1), body, spoiled, change: changes });
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 20, maxLength: 20 }), async (batch) => {
      await Promise.all(
        batch.map(async ({ hook: index, body, spoiled, change }) => {
          calls += 1;
          const hook = hooks[index] as (typeof hooks)[number];
          const bytes = Buffer.from(body.toWellFormed());
          const t = Math.floor(Date.now() / 1000) - (spoiled === "too old" ? 400 : 0);
          const signed = spoiled === "of another body" ? Buffer.concat([bytes, Buffer.from(" ")]) : bytes;
          const other = hook.secret.replace(/(?<=^.{10})./, (changed) => (changed === "A" ? "B" : "A"));
          const proof = hook.proof(spoiled === "of another secret" ? other : hook.secret, signed, t);
          const [name = ""] = Object.keys(proof).filter((header) => /sign|hmac|auth/.test(header));
          if (spoiled === "missing") delete proof[name];
          if (spoiled === "with a changed character")
            proof[name] = proof[name]?.replace(/[\w+/](?=[\w+/]*=*$)/, (first) => (first === "a" ? "b" : "a")) ?? "";
          const isTimed = /t=|webhook-t/.test(JSON.stringify(proof));
          const isBearer = proof.authorization !== undefined;
          const isSpoiled =
            spoiled !== undefined && (spoiled !== "too old" || isTimed) && (spoiled !== "of another body" || !isBearer);
          const { method = "POST", suffix = "", hop, encoding } = change as Parameters<typeof refusalOf>[0];
          const headers = {
            ...proof,
            // Each from an address of its own, so that no flood is noticed.
            "x-forwarded-for": `10.${calls >> 16}.${(calls >> 8) & 255}.${calls & 255}`,
            ...(hop && { "x-service-hop": hop }),
            ...(encoding && { "content-encoding": encoding }),
          };
          const response = await toolgate.request(hook.path + suffix, { method, headers, body: bytes });
          const refusal = refusalOf({ ...change }, isSpoiled, bytes.length);
          const expected = refusal === undefined ? [200, 202, 400] : [refusal];
          expect(expected, `${index} ${spoiled} ${body.slice(0, 200)} ${response.text}`).toContain(response.status);
          seen.add(response.status);
          if (response.status === 202) accepted.add(String(response.body.delivery_id));
        }),
      );
    }),
    { seed: SEED, numRuns: Math.ceil(CALLS / 20), endOnFailure: true },
  );
  expect(Object.keys(Object.prototype)).toEqual([]);
  // The calls reach every response.
  expect([...seen].sort()).toEqual([200, 202, 400, 401, 404, 405, 413, 508]);
});

test("[IN-24] [IN-22] [IN-33] every accepted call is stored and ran once, and nothing else did", {
  timeout: DEADLINE_MS,
}, async () => {
  const { rows: runs } = await eventually(
    async () => {
      const { rows } = await toolgate.pool.query(
        "select count(*)::int as n from inbound_hook.delivery where status in ('waiting', 'running')",
      );
      return rows[0].n === 0 && toolgate.pool.query("select delivery_id from inbound_hook.run");
    },
    { deadlineMs: DEADLINE_MS, everyMs: 250 },
  );
  const { rows: stored } = await toolgate.pool.query("select id from inbound_hook.delivery");
  expect(new Set(stored.map(({ id }) => id))).toEqual(accepted);
  expect(runs.map(({ delivery_id: id }) => id).sort()).toEqual([...accepted].sort());
});
