const [QUOTE, BACKSLASH, COMMA, LIST, OBJECT] = Buffer.from('"\\,[{');

/**
 * Whether JSON text in UTF-8 has more than `max` values: texts, numbers, true, false, null, lists and objects. An empty list
 * or object counts twice. Takes a few milliseconds for megabytes, and does not check whether the text is JSON.
 */
export function hasMoreValuesThan(json: Uint8Array, max: number): boolean {
  // One value, and one more with each list, object and comma.
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const byte = json[at];
    if (byte === QUOTE) isText = !isText;
    else if (isText) {
      if (byte === BACKSLASH) at += 1;
    } else if (byte === COMMA || byte === LIST || byte === OBJECT) {
      values += 1;
      if (values > max) return true;
    }
  }
  return values > max;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value of JSON text in UTF-8; undefined for anything else, such as text with a byte order mark. */
export function jsonValue(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    return undefined;
  }
}
