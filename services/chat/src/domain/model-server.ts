import { pastedFault } from "@toolgate/rules/pasted";
import { isPublicAddress } from "@toolgate/safe-fetch/address";
import { parseAllowList } from "@toolgate/safe-fetch/allow-list";
import { checkTarget } from "@toolgate/safe-fetch/resolve";
import { createSystemResolver } from "@toolgate/safe-fetch/system-resolver";
import { parseTargetUrl, type TargetUrlFailure } from "@toolgate/safe-fetch/target-url";

/** Checks a model's base URL when it is saved: the form to store, or the rule it breaks. Each request checks it again. */
export type CheckBaseUrl = (
  text: string,
  workspaceId: string,
) => Promise<{ ok: true; url: string } | { ok: false; violation: string }>;

interface CheckOptions {
  /** Names and addresses of this installation. */
  applicationHosts: readonly string[];
  /** Non-public addresses that are allowed during development. */
  allowedTargets: readonly string[];
}

const RESOLVE_WITHIN_MS = 5_000;
const MAX_MODEL_CHARACTERS = 200;
const MAX_API_KEY_CHARACTERS = 1_000;
/** What an HTTP header can carry, without spaces. */
const VISIBLE = /^[!-~]*$/;

const VIOLATIONS: Record<TargetUrlFailure, string> = {
  "too-long": "at most 2048 characters",
  "forbidden-character": "no whitespace, control characters or backslashes",
  malformed: "not a URL",
  scheme: "only https",
  userinfo: "no credentials in the URL",
  host: "not a valid host",
  port: "not a valid port",
  "application-host": "must not point to this service",
};

/** [SSRF-1..4] Only https, except to addresses that the operator has allowed. */
export function createBaseUrlCheck({ applicationHosts, allowedTargets }: CheckOptions): CheckBaseUrl {
  const resolver = createSystemResolver();
  const allowList = parseAllowList(allowedTargets);
  const refuse = (violation: string) => ({ ok: false as const, violation: `base_url: ${violation}` });
  return async (text, workspaceId) => {
    const parsed = parseTargetUrl(text, { applicationHosts, schemes: ["https:", "http:"] });
    if (!parsed.ok) return refuse(VIOLATIONS[parsed.reason]);
    const { url } = parsed;
    if (url.search !== "") return refuse("no query");
    const target = await checkTarget(parsed, {
      resolver,
      allowList,
      workspaceId,
      signal: AbortSignal.timeout(RESOLVE_WITHIN_MS),
    });
    if (!target.ok) return refuse(target.reason === "blocked" ? "address not allowed" : "the host does not resolve");
    const isAllowed = target.addresses.every((ip) => !isPublicAddress(ip) && allowList(parsed, ip));
    if (url.protocol === "http:" && !isAllowed) return refuse(VIOLATIONS.scheme);
    return { ok: true, url: url.href.replace(/\/+$/, "") };
  };
}

/** Why the provider's name for a model is not valid; undefined when it is. */
export function modelViolation(model: string): string | undefined {
  if (model !== "" && model.length <= MAX_MODEL_CHARACTERS && VISIBLE.test(model)) return undefined;
  return `model: 1 to ${MAX_MODEL_CHARACTERS} visible ASCII characters without spaces`;
}

/** The same for an API key. Empty: none. */
export function apiKeyViolation(apiKey: string): string | undefined {
  const fault = pastedFault(apiKey);
  if (fault) return `api_key: ${fault}`;
  if (apiKey.length <= MAX_API_KEY_CHARACTERS && VISIBLE.test(apiKey)) return undefined;
  return `api_key: at most ${MAX_API_KEY_CHARACTERS} visible ASCII characters without spaces`;
}

/** What a million tokens cost, in millionths of the currency's unit. */
export interface Price {
  /** ISO 4217. */
  currency: string;
  inputMicros: bigint;
  outputMicros: bigint;
}

const MAX_PRICE_MICROS = 10_000_000_000n;
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf("currency"));

/** Why a price is not valid; undefined when it is. */
export function priceViolation({ currency, inputMicros, outputMicros }: Price): string | undefined {
  if (!CURRENCIES.has(currency)) return "price.currency: must be a code of ISO 4217, such as USD";
  if (isPriceMicros(inputMicros) && isPriceMicros(outputMicros)) return undefined;
  return `price: input_micros and output_micros must be from 0 to ${MAX_PRICE_MICROS}`;
}

function isPriceMicros(micros: bigint): boolean {
  return micros >= 0n && micros <= MAX_PRICE_MICROS;
}

/** What the API key of a workspace's model is sealed for. */
export function apiKeyContext(workspaceId: string, model: string): string {
  return `model:${workspaceId}/${model}`;
}
