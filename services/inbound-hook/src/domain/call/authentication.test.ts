import { createHmac } from "node:crypto";
import { generateSecret } from "@toolgate/webhook-signing/secret";
import { sign, signStandard } from "@toolgate/webhook-signing/sign";
import { signGithub } from "@toolgate/webhook-signing/verify-untimed";
import { describe, expect, test } from "vitest";
import type { Format, Preset } from "../hook.ts";
import { authenticate } from "./authentication.ts";

const now = 1_780_000_000;
const body = Buffer.from('{"a":1}');
const secret = generateSecret();
const hmac = createHmac("sha256", secret).update(body).digest("base64");
const standard = {
  "webhook-id": "m",
  "webhook-timestamp": String(now),
  "webhook-signature": signStandard(secret, "m", now, body),
};

const CASES: [Format, Preset | null, Record<string, string>][] = [
  ["native", null, { "x-service-signature": sign(secret, now, body) }],
  ["processor", null, { "processor-signature": sign(secret, now, body) }],
  ["processor", "stripe", { "stripe-signature": sign(secret, now, body) }],
  ["shop", null, { "x-shop-hmac-sha256": hmac }],
  ["shop", "shopify", { "x-shopify-hmac-sha256": hmac }],
  ["bearer", null, { authorization: `Bearer ${secret}` }],
  ["github", null, { "x-hub-signature-256": signGithub(secret, body) }],
  ["standard_webhooks", null, standard],
];

function check(
  format: Format,
  preset: Preset | null,
  headers: Record<string, string | string[]>,
  change: { secret?: string; nowMs?: number; toleranceSeconds?: number } = {},
) {
  const values = Object.entries(headers).flatMap(([name, sent]) => [sent].flat().map((value) => ({ name, value })));
  const hook = { format, preset, secret, toleranceSeconds: 300, ...change };
  const result = authenticate(hook, { headers: values, body }, change.nowMs ?? now * 1000);
  return result.ok ? { signedAt: result.signedAt } : undefined;
}

describe.each(CASES)("%s (preset %s)", (format, preset, headers) => {
  const isTimed = ["native", "processor", "standard_webhooks"].includes(format);

  test("[IN-26] [IN-27] every header is needed, once", () => {
    expect(check(format, preset, headers)).toEqual({ signedAt: isTimed ? now : undefined });
    for (const name of Object.keys(headers)) {
      const { [name]: value = "", ...others } = headers;
      expect(check(format, preset, others)).toBeUndefined();
      expect(check(format, preset, { ...others, [name]: [value, value] })).toBeUndefined();
      expect(check(format, preset, { ...others, [name]: "" })).toBeUndefined();
    }
  });

  test("[AUTH-22] [AUTH-6] [AUTH-11] headers of other formats and presets are refused, and an empty secret refuses all", () => {
    expect(check(format, preset, headers, { secret: "" })).toBeUndefined();
    for (const [otherFormat, otherPreset, otherHeaders] of CASES) {
      if (otherFormat === format && otherPreset === preset) continue;
      expect(check(format, preset, otherHeaders)).toBeUndefined();
    }
  });

  test("[AUTH-2] [AUTH-3] [AUTH-8] the hook's tolerance applies in both directions, to the second", () => {
    for (const [seconds, passes] of [
      [60.999, true],
      [-60, true],
      [61, !isTimed],
      [-61, !isTimed],
    ] as const) {
      const nowMs = (now + seconds) * 1000;
      expect(check(format, preset, headers, { toleranceSeconds: 60, nowMs }) !== undefined).toBe(passes);
    }
  });
});
