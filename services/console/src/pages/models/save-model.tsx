import { useMutation } from "@connectrpc/connect-query";
import { type Model, ModelProvider, ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { MODELS, PROVIDERS } from "../../text/en/assistants/models.ts";
import { DATA } from "../../text/en/tools/data.ts";
import { Dialog } from "../../ui/dialog/dialog.tsx";
import { toast } from "../../ui/dialog/toast.tsx";
import { FieldGroup } from "../../ui/form/field-group.tsx";
import { Field, Form } from "../../ui/form/form.tsx";
import { Checkbox, Input, Select } from "../../ui/form/input.tsx";
import { NameField } from "../data/name-field.tsx";
import type { NamedProps } from "../data/named-page.tsx";
import { ModelTest } from "./model-test.tsx";
import { ModelValues, settingsOf } from "./model-values.ts";
import { PriceFields } from "./price-fields.tsx";

export function SaveModel({ of, onClose, onChanged }: { of?: Model } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync, reset } = useMutation(ModelService.method.saveModel, { gcTime: 0 });
  return (
    <Dialog title={of ? `${DATA.edit} ${of.name}` : MODELS.create} size="large" onClose={onClose}>
      <Form
        schema={ModelValues}
        submit={DATA.save}
        onCancel={onClose}
        onSubmit={async ({ price, ...values }) => {
          await mutateAsync({ workspace, price, ...settingsOf(values) }).finally(reset);
          toast(DATA.saved(values.name));
          onChanged(values.name);
          onClose();
        }}
      >
        <NameField of={of?.name} />
        <Field name="provider" label={MODELS.provider}>
          {(control) => (
            <Select
              {...control}
              options={PROVIDERS}
              defaultValue={of && `MODEL_PROVIDER_${ModelProvider[of.provider]}`}
            />
          )}
        </Field>
        <Field name="base_url" label={MODELS.baseUrl} hint={MODELS.baseUrlHint}>
          {(control) => <Input {...control} data-mono defaultValue={of?.baseUrl} />}
        </Field>
        <Field name="model" label={MODELS.model} hint={MODELS.modelHint}>
          {(control) => <Input {...control} data-mono defaultValue={of?.model} />}
        </Field>
        <Field name="api_key" label={MODELS.apiKey} hint={of?.hasApiKey ? MODELS.keepKey : MODELS.apiKeyHint}>
          {(control) => <Input {...control} data-mono type="password" autoComplete="new-password" />}
        </Field>
        <FieldGroup name="options" label={MODELS.options}>
          {of?.hasApiKey && <Checkbox name="remove_key" label={MODELS.removeKey} />}
          <Checkbox name="reads_files" label={MODELS.readsFiles} defaultChecked={of?.readsFiles} />
          <Checkbox name="asks_for_usage" label={MODELS.asksForUsage} defaultChecked={of?.asksForUsage} />
          <Checkbox name="thinks_first" label={MODELS.thinksFirst} defaultChecked={of?.thinksFirst} />
        </FieldGroup>
        <PriceFields of={of?.price} />
        <ModelTest read={(form) => ({ workspace, ...settingsOf(textsOf(form)) })} />
      </Form>
    </Dialog>
  );
}

/** As it is typed: the server says what is wrong with it. */
function textsOf(form: HTMLFormElement | null) {
  const texts = new FormData(form ?? undefined);
  const text = (name: string) => String(texts.get(name) ?? "").trim();
  return {
    name: text("name"),
    provider: text("provider"),
    base_url: text("base_url"),
    model: text("model"),
    api_key: text("api_key"),
    remove_key: texts.has("remove_key"),
    reads_files: texts.has("reads_files"),
    asks_for_usage: texts.has("asks_for_usage"),
    thinks_first: texts.has("thinks_first"),
  };
}
