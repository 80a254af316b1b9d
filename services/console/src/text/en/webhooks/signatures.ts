import { SignatureMistake } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";

const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

function durationText(seconds: number): string {
  const [unit, size] = UNITS.find(([, each]) => seconds >= 2 * each) ?? ["second", 1];
  return `${Math.round(seconds / size).toLocaleString("en")} ${unit}s`;
}

export const SIGNATURES = {
  title: "Check a signature",
  text: "Paste a request as your server received it, and see what does not match. Your secret and signatures are never shown.",
  headers: "Headers",
  headersHint: "X-Service-Signature, or webhook-id, webhook-timestamp and webhook-signature. Others may be included.",
  noHeaders: "Paste the headers, or the value of X-Service-Signature.",
  body: "Body",
  bodyHint: "Exactly as received, or as your code hashes it.",
  file: "Or a file with the body",
  fileHint: "Keeps every byte, which pasting may not: line breaks, for example.",
  received: "Received at",
  receivedHint: "Your local time. Empty: now.",
  check: "Check",
  noHeader: "No signature was found in the headers",
  malformed: "The signature header is malformed",
  matches: "The signature matches this body",
  differs: "The signature does not match this body",
  inTime: "The time is within the tolerance of 5 minutes",
  outOfTime: "The time is outside the tolerance of 5 minutes",
  offText: (seconds: number) =>
    `It was signed ${durationText(Math.abs(seconds))} ${seconds < 0 ? "after" : "before"} it was received. If you pasted an older request, enter when your server received it; otherwise check your server's clock.`,
  differsAt: (index: number) =>
    `The body differs from the one that was sent from byte ${index.toLocaleString("en")} on, counted from 0.`,
  secretReplaced: "The secret was rotated after this request was signed, so the current one cannot match.",
  unknownReason:
    "No common mistake explains it. Check that this is the endpoint that the request was sent to, and that the body is the one that arrived with these headers.",
} as const;

/** What each mistake means for who writes the receiver. */
export const MISTAKES: Readonly<Record<SignatureMistake, string>> = {
  [SignatureMistake.UNSPECIFIED]: "",
  [SignatureMistake.BODY_RESERIALISED]:
    "The body was parsed as JSON and serialised again, which changes its bytes. Hash the raw body, before any parsing.",
  [SignatureMistake.TRAILING_NEWLINE]: "A line break at the end of the body was added or removed.",
  [SignatureMistake.LINE_ENDINGS]: "Line breaks in the body were converted between LF and CRLF.",
  [SignatureMistake.ENCODING]: "The body is UTF-8 but was read or written as Latin-1.",
  [SignatureMistake.SURROUNDING_SPACE]: "There are spaces or a byte order mark around the body.",
  [SignatureMistake.OTHER_BODY]: "The body is not the one that was sent.",
  [SignatureMistake.KEY_WITHOUT_PREFIX]:
    "The key lacks its beginning “whsec_”. For X-Service-Signature, use the whole secret.",
  [SignatureMistake.KEY_DECODED]: "The secret was base64-decoded. For X-Service-Signature, use it as text.",
  [SignatureMistake.KEY_NOT_DECODED]:
    "The secret was used as text. For webhook-signature, base64-decode what follows “whsec_”.",
  [SignatureMistake.TIME_NOT_SIGNED]:
    "The time is missing in the signed text, which is the time, a full stop and the body.",
  [SignatureMistake.SEPARATOR]: "The parts of the signed text are not separated by a full stop.",
  [SignatureMistake.OTHER_SCHEME]:
    "The signed text is that of the other scheme: only webhook-signature has the webhook-id in it.",
  [SignatureMistake.TIME_OF_OTHER_ATTEMPT]: "The signature belongs to another attempt of this delivery.",
  [SignatureMistake.DIGEST_FORM]:
    "The digest is right but written wrong: X-Service-Signature is hexadecimal, webhook-signature is base64.",
};
