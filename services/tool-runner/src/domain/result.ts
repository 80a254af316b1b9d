/** The JSON text that a caller receives for what a tool returned. [TOOL-11] Anything but an object is wrapped. */
export function responseJson(resultJson: string): string {
  return isObjectText(resultJson) ? resultJson : `{"success":true,"result":${resultJson}}`;
}

const OPENING_BRACE = 0x7b;
const LAST_SPACE = 0x20;

function isObjectText(json: string): boolean {
  let at = 0;
  while (json.charCodeAt(at) <= LAST_SPACE) at += 1;
  return json.charCodeAt(at) === OPENING_BRACE;
}
