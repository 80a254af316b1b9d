/** [TOOL-11] The JSON text that a caller receives for what a tool returned. Anything but an object is wrapped. */
export function responseJson(resultJson: string): string {
  return /^\s*\{/.test(resultJson) ? resultJson : `{"success":true,"result":${resultJson}}`;
}
