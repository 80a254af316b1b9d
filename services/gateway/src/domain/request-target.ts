const ABSOLUTE_FORM = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;
const PATH_END = /[?#]/;

/**
 * A request's target as the router takes it: without the scheme and host of an absolute form, and with a path that can
 * be decoded. Where the percent-encoding is broken every `%` stands for itself.
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
