import { useMutation } from "@connectrpc/connect-query";
import { type CreateHookResponse, HookService } from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { useState } from "react";
import * as v from "valibot";
import { useWorkspace } from "../../rpc/use-session.ts";
import { HOOKS } from "../../text/en/webhooks/hooks.ts";
import { PROVIDERS } from "../../text/en/webhooks/providers.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { Form } from "../../ui/form/form.tsx";
import { HookValues, LimitFields, NameField, SecretField } from "./hook-form.tsx";
import { HookSecret } from "./hook-secret.tsx";
import styles from "./hooks.module.css";
import { ArgumentsFields, argumentsValue } from "./mapping/arguments-fields.tsx";
import { defaultSource, messageOf, type Source } from "./mapping/pointers.ts";
import { PROVIDER_LIST, type Provider, randomSecret } from "./providers.ts";
import { TargetField } from "./target-field.tsx";
import type { Target } from "./use-targets.ts";

interface CreateHookProps {
  onClose: () => void;
  onCreated: (hookId: bigint) => void;
}

/** [WMGMT-6] Asks who calls first: that decides what is asked next. */
export function CreateHook({ onClose, onCreated }: CreateHookProps) {
  const [provider, setProvider] = useState<Provider>();
  const [created, setCreated] = useState<{ url: string; secret: string }>();
  if (created && provider) return <HookSecret provider={provider} {...created} onClose={onClose} />;
  if (provider) {
    return (
      <HookDetails
        provider={provider}
        onBack={() => setProvider(undefined)}
        onClose={onClose}
        onCreated={({ hook, url, secret }) => {
          setCreated({ url, secret });
          onCreated(hook?.id ?? 0n);
        }}
      />
    );
  }
  return (
    <Dialog title={HOOKS.create} description={HOOKS.choose} size="large" onClose={onClose}>
      <ul className={styles.providers}>
        {PROVIDER_LIST.map((each) => (
          <li key={each.id}>
            <button type="button" className={styles.provider} onClick={() => setProvider(each)}>
              <strong>{PROVIDERS[each.id].name}</strong>
              <span>{PROVIDERS[each.id].url}</span>
              <span>{PROVIDERS[each.id].secretHint}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

const newHook = (source: Source) =>
  v.object({
    ...HookValues.entries,
    target: v.pipe(v.string(), v.nonEmpty(HOOKS.chooseTarget)),
    arguments: argumentsValue(source),
    provider_secret: v.optional(v.string(), ""),
  });

interface HookDetailsProps {
  provider: Provider;
  onBack: () => void;
  onClose: () => void;
  onCreated: (created: Pick<CreateHookResponse, "hook" | "url" | "secret">) => void;
}

/** [IN-4] [AUTH-20] URL and secret are in this dialog alone, until it closes. */
function HookDetails({ provider, onBack, onClose, onCreated }: HookDetailsProps) {
  const workspace = useWorkspace();
  const create = useMutation(HookService.method.createHook, { gcTime: 0 });
  const [target, setTarget] = useState<Target>();
  const [source, setSource] = useState<Source>({ from: "fields", rows: [] });
  const { name, url } = PROVIDERS[provider.id];
  const submit = async (values: v.InferOutput<ReturnType<typeof newHook>>) => {
    if (!target) return;
    const needsOne = provider.secret === "provider" || provider.secret === "chosen";
    const { name: hookName, limit, tolerance_seconds: toleranceSeconds, provider_secret: entered } = values;
    const made = entered === "" && needsOne ? randomSecret() : "";
    const answer = await create.mutateAsync({
      workspace,
      name: hookName,
      limit,
      toleranceSeconds,
      format: provider.format,
      preset: provider.preset,
      target: { target: { case: target.kind, value: target.name } },
      arguments: messageOf(source),
      providerSecret: entered || made,
    });
    create.reset();
    // A secret that only the provider can choose is a placeholder: nobody needs to see it.
    onCreated({ ...answer, secret: provider.secret === "chosen" ? made : answer.secret });
  };
  return (
    <Dialog title={`${HOOKS.create}: ${name}`} description={url} onClose={onClose}>
      <Form schema={newHook(source)} submit={HOOKS.create} onSubmit={submit} onCancel={onClose}>
        <Button kind="quiet" className={styles.back} onClick={onBack}>
          ‹ {HOOKS.back}
        </Button>
        <NameField />
        <TargetField
          chosen={target}
          onChosen={(chosen) => {
            setTarget(chosen);
            setSource(defaultSource(chosen?.parameters));
          }}
        />
        {target && <ArgumentsFields source={source} onSource={setSource} parameters={target.parameters} />}
        <SecretField provider={provider} />
        <LimitFields isTimed={provider.isTimed} />
      </Form>
    </Dialog>
  );
}
