import { useMutation } from "@connectrpc/connect-query";
import { type Model, ModelProvider, ModelService } from "@toolgate/gen/toolgate/chat/v1/model_pb";
import { useWorkspace } from "../../rpc/use-session.ts";
import { MODELS, PROVIDERS } from "../../text/en/assistants/models.ts";
import { DATA } from "../../text/en/tools/data.ts";
import type { Column } from "../../ui/list/resource-list.tsx";
import { useList } from "../../ui/list/use-list.ts";
import { Facts } from "../../ui/page/panel.tsx";
import { Time } from "../../ui/time.tsx";
import { NamedPage, type NamedProps } from "../data/named-page.tsx";
import { NamedPanel } from "../data/named-panel.tsx";
import { ModelTest } from "./model-test.tsx";
import { priceText } from "./price.ts";
import { SaveModel } from "./save-model.tsx";

const COLUMNS: readonly Column<Model>[] = [
  { header: MODELS.model, width: "minmax(120px, 2fr)", render: ({ model }) => model },
  { header: MODELS.server, width: "minmax(140px, 3fr)", render: ({ baseUrl }) => new URL(baseUrl).host },
  { header: MODELS.saved, width: "110px", render: ({ savedAt }) => <Time at={savedAt} /> },
];

export function ModelsPage() {
  const workspace = useWorkspace();
  const list = useList(
    ModelService.method.listModels,
    { workspace },
    { rowsOf: (page) => page.models, keyOf: ({ name }) => name },
  );
  return (
    <NamedPage
      text={MODELS}
      list={list}
      columns={COLUMNS}
      create={(dialog) => <SaveModel {...dialog} />}
      panel={(model, panel) => <ModelPanel key={model.name} of={model} {...panel} />}
    />
  );
}

function ModelPanel({ of, ...panel }: { of: Model } & NamedProps) {
  const workspace = useWorkspace();
  const { mutateAsync } = useMutation(ModelService.method.deleteModel);
  const { name, provider, baseUrl, model, asksForUsage, thinksFirst } = of;
  const options = [
    of.readsFiles && MODELS.readsFiles,
    asksForUsage && MODELS.asksForUsage,
    thinksFirst && MODELS.thinksFirst,
  ];
  return (
    <NamedPanel
      name={name}
      edit={{ label: DATA.edit, dialog: (dialog) => <SaveModel of={of} {...dialog} /> }}
      remove={{ text: MODELS.deleteText, call: () => mutateAsync({ workspace, name }) }}
      {...panel}
    >
      <Facts
        facts={[
          [MODELS.provider, PROVIDERS.find(([id]) => id === `MODEL_PROVIDER_${ModelProvider[provider]}`)?.[1]],
          [MODELS.baseUrl, <code key="url">{baseUrl}</code>],
          [MODELS.model, <code key="model">{model}</code>],
          [MODELS.key, of.hasApiKey ? MODELS.hasKey : MODELS.noKey],
          ...(of.price ? [[MODELS.price, priceText(of.price)] as const] : []),
          [
            MODELS.saved,
            <span key="saved">
              <Time at={of.savedAt} exact /> by {of.savedBy}
            </span>,
          ],
        ]}
      />
      {options.filter(Boolean).map((option) => (
        <p key={String(option)}>{option}</p>
      ))}
      <ModelTest read={() => ({ workspace, name, provider, baseUrl, model, asksForUsage, thinksFirst })} />
    </NamedPanel>
  );
}
