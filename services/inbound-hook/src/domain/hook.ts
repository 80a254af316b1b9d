import { createHash, randomBytes } from "node:crypto";
import { nameFault } from "@toolgate/rules/name";
import { pastedFault } from "@toolgate/rules/pasted";
import { decodeSecret } from "@toolgate/webhook-signing/secret";

export type Format = "native" | "processor" | "shop" | "bearer" | "github" | "standard_webhooks";
export type Preset = "stripe" | "shopify";

export const MAX_HOOKS_PER_WORKSPACE = 100;
/** Deleted ones count as well: their rows and logs stay for 30 days. */
export const MAX_HOOKS_CREATED_PER_DAY = 1_000;
export const DEFAULT_LIMIT = 60;
export const DEFAULT_TOLERANCE_S = 300;
const MAX_NAME_CHARACTERS = 200;
const MAX_LIMIT = 10_000;
const MIN_TOLERANCE_S = 60;
const MAX_TOLERANCE_S = 3_600;
const MIN_SECRET_CHARACTERS = 8;
const MAX_SECRET_CHARACTERS = 512;
/** The lengths that Standard Webhooks allows for a secret. */
const MIN_KEY_BYTES = 24;
const MAX_KEY_BYTES = 64;

/** Who chooses the secret of a format: the service, the provider, or either. `timed`: its signatures have a time. */
const FORMATS: Readonly<Record<Format, { secret: "ours" | "provider" | "either"; timed: boolean; preset?: Preset }>> = {
  native: { secret: "ours", timed: true },
  processor: { secret: "provider", timed: true, preset: "stripe" },
  shop: { secret: "provider", timed: false, preset: "shopify" },
  bearer: { secret: "ours", timed: false },
  github: { secret: "provider", timed: false },
  standard_webhooks: { secret: "either", timed: true },
};

/** Whether the signatures of a format contain a time. Only then does a hook have a tolerance. */
export function hasTime(format: Format): boolean {
  return FORMATS[format].timed;
}

/** [IN-2] [IN-8] [AUTH-3] Which of the settings is not allowed; undefined ones are not set. */
export function settingsViolation(
  format: Format,
  settings: { name: string | undefined; limit: number | undefined; toleranceSeconds: number | undefined },
): string | undefined {
  const { name, limit, toleranceSeconds: seconds } = settings;
  const fault = name === undefined ? undefined : nameFault(name, MAX_NAME_CHARACTERS);
  if (fault) return `name: ${fault}`;
  if (limit !== undefined && (limit < 1 || limit > MAX_LIMIT)) return `limit: must be 1 to ${MAX_LIMIT}`;
  if (seconds === undefined) return undefined;
  if (!hasTime(format)) return "tolerance_seconds: signatures of this format have no time";
  if (seconds >= MIN_TOLERANCE_S && seconds <= MAX_TOLERANCE_S) return undefined;
  return `tolerance_seconds: must be ${MIN_TOLERANCE_S} to ${MAX_TOLERANCE_S}`;
}

export function presetViolation(format: Format, preset: Preset | undefined): string | undefined {
  return preset === undefined || preset === FORMATS[format].preset ? undefined : "preset: not for this format";
}

/** [AUTH-20] [AUTH-21] Why a format does not accept a provider's secret ("": none given). Never contains the secret. */
export function providerSecretViolation(format: Format, secret: string): string | undefined {
  const chosenBy = FORMATS[format].secret;
  if (secret === "") return chosenBy === "provider" ? "provider_secret: this format needs it" : undefined;
  if (chosenBy === "ours") return "provider_secret: the secret of this format is generated";
  const characters = [...secret].length;
  if (characters < MIN_SECRET_CHARACTERS || characters > MAX_SECRET_CHARACTERS) {
    return `provider_secret: ${MIN_SECRET_CHARACTERS} to ${MAX_SECRET_CHARACTERS} characters`;
  }
  const fault = pastedFault(secret);
  if (fault) return `provider_secret: ${fault}`;
  return chosenBy === "either" ? keyViolation(secret) : undefined;
}

function keyViolation(secret: string): string | undefined {
  const bytes = decodeSecret(secret)?.length ?? 0;
  if (bytes >= MIN_KEY_BYTES && bytes <= MAX_KEY_BYTES) return undefined;
  return `provider_secret: must be whsec_ followed by the base64 of ${MIN_KEY_BYTES} to ${MAX_KEY_BYTES} bytes`;
}

const SEGMENT_PREFIX = "hk_";
const SEGMENT_BYTES = 24;
const SHOWN_CHARACTERS = 4;

/** [IN-3] The last segment of a new hook's URL: hk_ and 32 random characters. */
export function newSegment(): string {
  return SEGMENT_PREFIX + randomBytes(SEGMENT_BYTES).toString("base64url");
}

export function hashSegment(segment: string): Buffer {
  return createHash("sha256").update(segment).digest();
}

/** [IN-4] A segment without most of its characters, to tell hooks apart. */
export function shortenSegment(segment: string): string {
  const secret = segment.slice(SEGMENT_PREFIX.length);
  return `${SEGMENT_PREFIX}${secret.slice(0, SHOWN_CHARACTERS)}…${secret.slice(-SHOWN_CHARACTERS)}`;
}

/** [IN-3] The URL of a segment; only its path when the installation's public address is unknown. */
export function hookUrl(publicUrl: string, segment: string): string {
  return `${publicUrl}/api/v1/hooks/${segment}`;
}

/** Binds a sealed secret to its hook. */
export function sealingContext(hookId: number): string {
  return `hook:${hookId}`;
}

/** The scope of the epoch under which a hook's row is cached. */
export function epochScope(hookId: number): string {
  return `hook:${hookId}`;
}
