import { type Hook, HookFormat, HookPreset } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { PROVIDERS } from "../../text/en/webhooks/providers.ts";

/** Where a secret comes from: Toolgate makes it; the provider shows it; the user chooses it; or the sender may show one. */
export type SecretSource = "ours" | "provider" | "chosen" | "either";

export interface Provider {
  id: keyof typeof PROVIDERS;
  format: HookFormat;
  preset: HookPreset;
  secret: SecretSource;
  /** Its signatures have a time. */
  isTimed: boolean;
}

/** [AUTH-19] Signed ones first. */
export const PROVIDER_LIST: readonly Provider[] = [
  { id: "stripe", format: HookFormat.PROCESSOR, preset: HookPreset.STRIPE, secret: "provider", isTimed: true },
  { id: "shopify", format: HookFormat.SHOP, preset: HookPreset.SHOPIFY, secret: "provider", isTimed: false },
  { id: "github", format: HookFormat.GITHUB, preset: HookPreset.UNSPECIFIED, secret: "chosen", isTimed: false },
  {
    id: "standard",
    format: HookFormat.STANDARD_WEBHOOKS,
    preset: HookPreset.UNSPECIFIED,
    secret: "either",
    isTimed: true,
  },
  { id: "native", format: HookFormat.NATIVE, preset: HookPreset.UNSPECIFIED, secret: "ours", isTimed: true },
  { id: "bearer", format: HookFormat.BEARER, preset: HookPreset.UNSPECIFIED, secret: "ours", isTimed: false },
];

/** The provider whose signatures a hook has. Hooks without a preset of their format count as the one that has it. */
export function providerOf({ format }: Pick<Hook, "format">): Provider {
  return PROVIDER_LIST.find((provider) => provider.format === format) ?? (PROVIDER_LIST[0] as Provider);
}

/** The format of a hook in words. */
export function formatOf({ format, preset }: Pick<Hook, "format" | "preset">): string {
  if (format === HookFormat.PROCESSOR && preset !== HookPreset.STRIPE) return "Processor-Signature";
  if (format === HookFormat.SHOP && preset !== HookPreset.SHOPIFY) return "X-Shop-Hmac-Sha256";
  return PROVIDERS[providerOf({ format }).id].name;
}

const SECRET_BYTES = 32;

/** A secret where the format needs one and the user has none to enter. */
export function randomSecret(): string {
  return [...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
}
