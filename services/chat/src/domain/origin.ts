const MAX_ORIGINS = 20;
const MAX_CHARACTERS = 300;

/** Why a list of origins is not valid; undefined when it is. */
export function originsViolation(origins: readonly string[]): string | undefined {
  if (origins.length > MAX_ORIGINS) return `allowed_origins: at most ${MAX_ORIGINS}`;
  if (new Set(origins).size < origins.length) return "allowed_origins: must not contain duplicates";
  const wrong = origins.some((origin) => !isOrigin(origin));
  return wrong ? "allowed_origins: each must be as browsers send it, such as https://www.example.com" : undefined;
}

/** Exactly as a browser sends it in the header Origin: lower case, no path, no default port. */
function isOrigin(text: string): boolean {
  if (text.length > MAX_CHARACTERS) return false;
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && url.hostname !== "" && url.origin === text;
}
