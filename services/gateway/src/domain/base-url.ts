const AUTHORITY = /^(?:[A-Za-z0-9.-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;

/**
 * Where callers reach this installation: as configured, else as the request was addressed. "/" (relative to the
 * document) when the request's Host is no host.
 */
export function baseUrlOf(publicUrl: string, request: { protocol: string; host: string }): string {
  if (publicUrl !== "") return publicUrl.replace(/\/+$/, "");
  return AUTHORITY.test(request.host) ? `${request.protocol}://${request.host}` : "/";
}
