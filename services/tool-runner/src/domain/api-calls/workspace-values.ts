import { pastedFault } from "@toolgate/rules/pasted";

const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/;
const PLACEHOLDER_NAME = /^(secret|variable):(.*)$/s;

/** What a placeholder refers to if it is not an argument: `secret:NAME` or `variable:NAME`. */
export function workspaceValueOf(placeholder: string): { kind: "secret" | "variable"; name: string } | undefined {
  const [, kind, name = ""] = PLACEHOLDER_NAME.exec(placeholder) ?? [];
  return (kind === "secret" || kind === "variable") && NAME.test(name) ? { kind, name } : undefined;
}

const MAX_HOSTS = 20;
const HOST = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const ALLOWED_HOST = /^(?:http:\/\/)?([^/:]*)(?::([1-9]\d{0,4}))?$/;
const MAX_PORT = 65_535;
const MIN_SECRET_CHARS = 8;
const MAX_VALUE_CHARS = 8_192;

/** Why a secret or a variable cannot have this name; undefined when it can. */
export function valueNameViolation(name: string): string | undefined {
  return NAME.test(name) ? undefined : "name: 1 to 64 letters, digits and underscores, no digit first";
}

/** Why a secret cannot be limited to these hosts; undefined when it can. */
export function hostsViolation(hosts: readonly string[]): string | undefined {
  if (hosts.length === 0 || hosts.length > MAX_HOSTS) return `hosts: 1 to ${MAX_HOSTS} hosts`;
  const wrong = hosts.findIndex((host) => !isAllowedHost(host));
  if (wrong === -1) return undefined;
  return `hosts.${wrong}: must be a host name in lower case, with :port unless it is 443, and http:// if not encrypted`;
}

function isAllowedHost(text: string): boolean {
  const [, host = "", port = "443"] = ALLOWED_HOST.exec(text) ?? [];
  return HOST.test(host) && Number(port) <= MAX_PORT && originOf(text) !== undefined;
}

/**
 * [SSRF] Whether a secret with these allowed hosts may be sent to the URL. `a.test` allows https://a.test:443 only,
 * `a.test:8443` that port only. Only `http://a.test` allows an unencrypted call, to port 80 unless it names another.
 */
export function mayGoTo(url: string, hosts: readonly string[]): boolean {
  const to = URL.parse(url);
  return to !== null && hosts.some((host) => originOf(host) === to.origin);
}

function originOf(allowedHost: string): string | undefined {
  return URL.parse(allowedHost.startsWith("http://") ? allowedHost : `https://${allowedHost}`)?.origin;
}

/** Why a text cannot be a secret. Removing a short one from logs would destroy other text as well. */
export function secretViolation(value: string): string | undefined {
  if (value.length < MIN_SECRET_CHARS || value.length > MAX_VALUE_CHARS) {
    return `value: ${MIN_SECRET_CHARS} to ${MAX_VALUE_CHARS} characters`;
  }
  const fault = pastedFault(value);
  return fault && `value: ${fault}`;
}

/** Why a text cannot be a variable. */
export function variableViolation(value: string): string | undefined {
  if (value.length > MAX_VALUE_CHARS) return `value: at most ${MAX_VALUE_CHARS} characters`;
  return value.includes("\0") || !value.isWellFormed() ? "value: must not contain NUL characters" : undefined;
}
