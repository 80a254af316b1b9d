/**
 * What a secret looks like where services return it: as written, percent-encoded, HTML-encoded, in base64, or within
 * something longer in base64, such as Basic credentials. No form is shorter than the secret.
 */
export function secretForms(secret: string): string[] {
  const base64 = Buffer.from(secret).toString("base64");
  const url = Buffer.from(secret).toString("base64url");
  const encoded = encodeURIComponent(secret);
  const lower = encoded.replace(/(?:%[0-9A-F]{2})+/g, (bytes) => bytes.toLowerCase());
  const forms = [secret, encoded, lower, encoded.replaceAll("%20", "+"), ...htmlForms(secret)];
  forms.push(base64, base64.replace(/=+$/, ""), url, ...withinBase64(secret));
  return [...new Set(forms)];
}

/** As the usual libraries escape text for HTML: they differ only in quotes. */
function htmlForms(secret: string): string[] {
  const text = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const quoted = text.replaceAll('"', "&quot;");
  const quotes = ["&#39;", "&#x27;", "&apos;"].map((quote) => quoted.replaceAll("'", quote));
  return [text, quoted, ...quotes, text.replaceAll('"', "&#34;").replaceAll("'", "&#39;")];
}

const BITS = { ofByte: 8, ofCharacter: 6 };

/**
 * What remains the same when the base64 of a longer text contains the secret, for each of its three alignments: the
 * characters that depend on nothing but the secret.
 */
function withinBase64(secret: string): string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const start = Math.ceil((before * BITS.ofByte) / BITS.ofCharacter);
    const end = Math.floor(((before + bytes.length) * BITS.ofByte) / BITS.ofCharacter);
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    return [padded.toString("base64").slice(start, end), padded.toString("base64url").slice(start, end)];
  });
}
