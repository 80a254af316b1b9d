import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { PROVIDERS } from "../../text/en/webhooks/providers.ts";
import { SecretOnce } from "../../ui/dialog/secret-once.tsx";
import type { Provider } from "./providers.ts";

interface HookSecretProps {
  provider: Provider;
  /** Not set: only the secret is new. */
  url?: string;
  /** Empty when the provider has it. */
  secret: string;
  onClose: () => void;
}

/** [IN-4] */
export function HookSecret({ provider, url, secret, onClose }: HookSecretProps) {
  const isPlaceholder = url !== undefined && secret === "";
  const steps = url === undefined ? [] : [PROVIDERS[provider.id].url, isPlaceholder && HOOKS.createdLater];
  const text = [...steps, url === undefined ? HOOKS.rotatedText : HOOKS.createdText].filter(Boolean).join(" ");
  return (
    <SecretOnce
      title={url === undefined ? HOOKS.rotated : HOOKS.created}
      text={text}
      // An installation that does not know its public address is called at the one that this page has.
      values={url === undefined ? [] : [["URL", new URL(url, location.origin).href]]}
      secret={secret}
      fileName="toolgate-hook.txt"
      onClose={onClose}
      {...(secret !== "" && { variable: "HOOK_SECRET" })}
    />
  );
}
