/** A provider in its own words: where its settings have the URL, and where they have the secret. */
export const PROVIDERS = {
  stripe: {
    name: "Stripe",
    url: "In Stripe, open Developers › Webhooks, add a destination and paste the URL as its endpoint.",
    secret: "Signing secret",
    secretHint: "Stripe shows the signing secret, whsec_…, on the page of the destination once that exists.",
  },
  shopify: {
    name: "Shopify",
    url: "In Shopify, open Settings › Notifications › Webhooks, create a webhook with the format JSON and paste the URL.",
    secret: "Signing secret",
    secretHint:
      "The secret is below the list: “Your webhooks will be signed with …”. For webhooks of an app, it is the client secret.",
  },
  github: {
    name: "GitHub",
    url: "In the repository or organization, open Settings › Webhooks, paste the URL as Payload URL, and choose application/json.",
    secret: "Secret",
    secretHint: "You choose it: enter the same one in the field Secret at GitHub.",
  },
  standard: {
    name: "Standard Webhooks, Svix",
    url: "In the sender's webhook portal, add an endpoint and paste the URL.",
    secret: "Signing secret",
    secretHint: "The signing secret is on the page of the endpoint.",
  },
  native: {
    name: "Toolgate's signature",
    url: "Your own program posts JSON to the URL and signs it in the header X-Service-Signature.",
    secret: "Secret",
    secretHint: "Toolgate makes the secret and shows it once.",
  },
  bearer: {
    name: "Bearer token",
    url: "Any program that can send the header “Authorization: Bearer …” posts JSON to the URL.",
    secret: "Token",
    secretHint: "Toolgate makes the token and shows it once. Whoever holds it can send anything: prefer a signature.",
  },
} as const;
