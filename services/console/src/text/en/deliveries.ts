import { SignatureMistake } from "@toolgate/gen/toolgate/outbound_webhook/v1/delivery_pb";

export const DELIVERIES = {
  title: "Deliveries",
  search: "Event or request id",
  anyEndpoint: "Any endpoint",
  anyStatus: "Any status",
  anyKind: "Any kind",
  eventType: "Event type",
  from: "From",
  to: "To",
  empty: "No deliveries yet",
  emptyText: "As soon as something happens that an endpoint has subscribed to, its delivery appears here.",
  resend: "Resend",
  resent: "Sent again: this is the new delivery",
  resendHint: "Makes a new delivery with the same event id and body.",
  siblings: "All deliveries of this event",
  attempts: "Attempts",
  noAttempts: "No attempt has been made yet.",
  nextUnderWay: "Under way",
  details: "Response and request",
  response: "Response body",
  responseCut: "Only the first 1,000 characters of a response are kept.",
  noResponseBody: "The response had no body.",
  noResponse: "There was no response.",
  headers: "Request headers",
  signaturesGone:
    "The signatures are left out: the secret has been replaced or the endpoint deleted since this attempt.",
  headersGone: "The headers of this attempt were not kept.",
  address: "Address",
  payload: "Request body",
  payloadText: "Every attempt sends exactly these bytes.",
  payloadGone: "The body is no longer kept.",
  curl: "Send it yourself",
  curlText: "A command that sends the same body to the endpoint's URL, signed now. It does not contain the secret.",
  makeCurl: "Make a curl command",
  makeCurlAgain: "Sign it again",
  curlValid: "Receivers accept its signature until",
  curlOver: "Receivers no longer accept its signature. It was valid until",
} as const;

/** How an attempt that got no response failed, by the error that the log has. */
export const FAILURES: Readonly<Record<string, string>> = {
  "target URL not allowed": "Nothing was sent: webhooks may not be sent to this URL.",
  "target address not allowed": "Nothing was sent: the endpoint's host name leads to an address that is not public.",
  "connection error: the host name does not resolve": "Nothing was sent: the endpoint's host name does not resolve.",
  "connection error: the connection was refused": "Your server refused the connection.",
  "connection error: the host cannot be reached": "Your server could not be reached.",
  "connection error: the connection was closed before the response was complete":
    "Your server closed the connection before its response was complete.",
  "connection error: the certificate is not valid for this host":
    "Nothing was sent: your server's certificate is not valid for this host.",
  "connection error: the certificate has expired": "Nothing was sent: your server's certificate has expired.",
  "connection error: the certificate is not valid yet": "Nothing was sent: your server's certificate is not valid yet.",
  "connection error: the certificate is not signed by a trusted authority, or an intermediate certificate is missing":
    "Nothing was sent: your server's certificate is not signed by a trusted authority, or an intermediate certificate is missing.",
  "connection error: the TLS handshake failed": "Nothing was sent: the TLS handshake with your server failed.",
};

/** By the phase in which the time ran out. */
export const TIMEOUTS: Readonly<Record<string, string>> = {
  dns: "Your server's name did not resolve",
  connect: "Your server did not accept the connection",
  tls: "Your server did not finish the TLS handshake",
  send: "Your server did not read the request",
  headers: "Your server did not answer",
};

export const PHASES = {
  dnsMs: "DNS",
  connectMs: "Connect",
  tlsMs: "TLS",
  firstByteMs: "First byte",
  restMs: "Rest",
} as const;

/** The rest of an attempt that got no response. */
export const NO_RESPONSE_PHASE = "Waiting";

export const SIGNATURE = {
  title: "Check a signature",
  text: "Paste what your server received. Toolgate says whether the signature is right, and what went wrong if it is not.",
  headers: "Headers received",
  headersHint:
    "The line X-Service-Signature, or webhook-id, webhook-timestamp and webhook-signature. Others do no harm.",
  body: "Body received",
  bodyHint: "The bytes that your code hashes. A file keeps line endings that a pasted text loses.",
  file: "Or the body as a file",
  receivedAt: "Received at",
  receivedAtHint: "In your time zone. Empty: now.",
  check: "Check",
  right: "The signature is right",
  rightText: "It was made with this endpoint's secret for exactly this body and time.",
  wrong: "The signature does not match",
  unknown:
    "No usual mistake explains it. Most likely another secret was used: check that your server has the secret of this endpoint.",
  noScheme: "No signature was found in the headers",
  noSchemeText: "Include X-Service-Signature, or webhook-id, webhook-timestamp and webhook-signature.",
  malformed: "The signature header is malformed",
  replaced:
    "The secret was replaced after this was signed: your server may have checked an old signature with the new secret.",
  tooLate: "Your server would refuse it for its time",
  inTime: "The time is fine",
} as const;

/** What a wrong signature was made from, and how to fix it. */
export const MISTAKES: Readonly<Record<SignatureMistake, string>> = {
  [SignatureMistake.UNSPECIFIED]: SIGNATURE.unknown,
  [SignatureMistake.BODY_RESERIALISED]:
    "The body was parsed as JSON and written again. Hash the raw bytes of the request before anything parses them.",
  [SignatureMistake.TRAILING_NEWLINE]: "A line break at the end of the body was added or removed.",
  [SignatureMistake.LINE_ENDINGS]: "Line endings were changed between LF and CRLF.",
  [SignatureMistake.ENCODING]: "The body is UTF-8, but was read or written as Latin-1.",
  [SignatureMistake.SURROUNDING_SPACE]: "There are spaces or a byte order mark around the body.",
  [SignatureMistake.OTHER_BODY]: "The body is not the one that was sent.",
  [SignatureMistake.KEY_WITHOUT_PREFIX]: "The key lacks “whsec_”. Use the whole secret as it was shown.",
  [SignatureMistake.KEY_DECODED]:
    "X-Service-Signature was computed with the base64-decoded secret. Use the secret as text, with “whsec_”.",
  [SignatureMistake.KEY_NOT_DECODED]:
    "webhook-signature was computed with the secret as text. Decode the part after “whsec_” from base64 first.",
  [SignatureMistake.TIME_NOT_SIGNED]: "The time is missing in the signed text. Sign “time.body”, not the body alone.",
  [SignatureMistake.SEPARATOR]: "The parts of the signed text must be joined by a full stop.",
  [SignatureMistake.OTHER_SCHEME]:
    "The text of the other scheme was signed: webhook-signature includes webhook-id, X-Service-Signature does not.",
  [SignatureMistake.TIME_OF_OTHER_ATTEMPT]:
    "The signature belongs to another attempt of this delivery. Take the time and the signature from the same request.",
  [SignatureMistake.DIGEST_FORM]:
    "The digest is right, but written in the other form: X-Service-Signature is hexadecimal, webhook-signature is base64.",
};
