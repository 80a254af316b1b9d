import { CUSTOM_KINDS } from "../../chart/src/custom-kinds.ts";

type Schema = Readonly<Record<string, unknown>>;

/** CustomResourceDefinitions with the fields that the chart uses, for the kinds of other projects that it makes. */
export function customResourceDefinitions(): { readonly metadata: { readonly name: string } }[] {
  return Object.entries(CUSTOM_KINDS).map(([name, schema]) => {
    const [apiVersion = "", kind = ""] = name.split(" ");
    const [group = "", version = ""] = apiVersion.split("/");
    const plural = `${kind.toLowerCase()}s`;
    const { spec } = schema.properties as Record<string, Schema>;
    const properties = { spec: structural(spec ?? {}), status: open() };
    return {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: {
        name: `${plural}.${group}`,
        // Without it the API server refuses kinds of groups such as gateway.networking.k8s.io.
        annotations: { "api-approved.kubernetes.io": "unapproved, for tests" },
      },
      spec: {
        group,
        scope: "Namespaced",
        names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
        versions: [
          {
            name: version,
            served: true,
            storage: true,
            schema: { openAPIV3Schema: { type: "object", properties } },
            subresources: { status: {} },
          },
        ],
      },
    };
  });
}

function open(): Schema {
  return { type: "object", "x-kubernetes-preserve-unknown-fields": true };
}

/** A JSON schema as Kubernetes wants it: unknown fields are refused by clients that ask for it, not by the schema. */
function structural(schema: Schema): Schema {
  const { const: only, additionalProperties, properties, items, ...rest } = schema;
  const result: Record<string, unknown> = { ...rest };
  if (only !== undefined || rest.enum !== undefined) {
    result.type = "string";
    result.enum = only === undefined ? rest.enum : [only];
  }
  if (properties) {
    result.properties = Object.fromEntries(
      Object.entries(properties as Record<string, Schema>).map(([name, inner]) => [name, structural(inner)]),
    );
  } else if (additionalProperties) {
    result.additionalProperties = structural(additionalProperties as Schema);
  }
  if (items) result.items = structural(items as Schema);
  return result;
}
