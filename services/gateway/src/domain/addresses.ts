const AUTHORITY = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const PATH_END = /[?#]/;

/**
 * Where callers reach this installation: as configured, otherwise as the request was addressed. "/" (relative to the
 * document) if the request's Host header is not a host.
 */
export function baseUrlOf(publicUrl: string, request: { protocol: string; host: string }): string {
  if (publicUrl !== "") return publicUrl.replace(/\/+$/, "");
  return AUTHORITY.test(request.host) ? `${request.protocol}://${request.host}` : "/";
}

/**
 * A request's target in the form that the router accepts: without scheme and host, and with a path that can be decoded.
 * If the percent-encoding is broken, every `%` is literal.
 */
export function routableTarget(target: string): string {
  const local = target.startsWith("/") ? target : originForm(target);
  if (!local.includes("%")) return local;
  const end = local.search(PATH_END);
  const path = end === -1 ? local : local.slice(0, end);
  return isDecodable(path) ? local : path.replaceAll("%", "%25") + local.slice(path.length);
}

function originForm(target: string): string {
  const rest = target.replace(ABSOLUTE_FORM, "");
  return rest === target || rest.startsWith("/") ? rest : `/${rest}`;
}

function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
}
