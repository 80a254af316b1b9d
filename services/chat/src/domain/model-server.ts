import { pastedFault } from "@toolgate/rules/pasted";
import { type CheckUrlOptions, createUrlCheck } from "@toolgate/safe-fetch/saved-url";

/** Checks a model's base URL when it is saved: the form to store, or the rule it breaks. Each request checks it again. */
export type CheckBaseUrl = (
  text: string,
  workspaceId: string,
) => Promise<{ ok: true; url: string } | { ok: false; violation: string }>;

const MAX_MODEL_CHARACTERS = 200;
const MAX_API_KEY_CHARACTERS = 1_000;
/** What an HTTP header can carry, without spaces. */
const VISIBLE = /^[!-~]*$/;

/** [SSRF-1..4] Only https, except to addresses that the operator has allowed. */
export function createBaseUrlCheck(
  options: Pick<CheckUrlOptions, "applicationHosts" | "allowedTargets">,
): CheckBaseUrl {
  const check = createUrlCheck({ ...options, field: "base_url", allowsHttp: true });
  return async (text, workspaceId) => {
    const checked = await check(text, workspaceId);
    if (!checked.ok) return checked;
    if (checked.url.search !== "") return { ok: false, violation: "base_url: no query" };
    return { ok: true, url: checked.url.href.replace(/\/+$/, "") };
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
