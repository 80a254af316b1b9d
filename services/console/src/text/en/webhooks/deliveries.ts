export const DELIVERIES = {
  title: "Deliveries",
  search: "Event or request id",
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
