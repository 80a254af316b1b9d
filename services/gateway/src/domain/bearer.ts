import { isWellFormed } from "@toolgate/api-key/secret";

const BEARER = /^bearer +(\S+)$/i;

/** The token of an Authorization header; undefined for anything else. */
export function bearerToken(authorization: string | undefined): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization.trim())?.[1];
}

/** [TOOL-7] The key of a request; undefined when there is none or it cannot be one. */
export function apiKeyOf(authorization: string | undefined): string | undefined {
  const token = bearerToken(authorization);
  return token !== undefined && isWellFormed(token) ? token : undefined;
}
