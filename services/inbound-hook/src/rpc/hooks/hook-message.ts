import type { MessageInitShape } from "@bufbuild/protobuf";
import {
  type HookArguments as ArgumentsMessage,
  type HookArgumentsSchema,
  HookFormat,
  HookPreset,
  type HookSchema,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_pb";
import { timestampOf } from "@toolgate/service-host/time";
import type { ArgumentSource } from "../../domain/arguments/mapping.ts";
import { type Format, hasTime, hookUrl, type Preset } from "../../domain/hook.ts";
import type { HookFigures } from "../../store/hook-figures.ts";
import type { HookRow } from "../../store/hooks.ts";
import { invalidArgument } from "../request-fields.ts";

const FORMATS = {
  native: HookFormat.NATIVE,
  processor: HookFormat.PROCESSOR,
  shop: HookFormat.SHOP,
  bearer: HookFormat.BEARER,
  github: HookFormat.GITHUB,
  standard_webhooks: HookFormat.STANDARD_WEBHOOKS,
} as const satisfies Record<Format, HookFormat>;

const PRESETS = { stripe: HookPreset.STRIPE, shopify: HookPreset.SHOPIFY } as const satisfies Record<
  Preset,
  HookPreset
>;

/** [IN-5] There is no default: the caller must name the format. */
export function formatOf(value: HookFormat): Format {
  const format = (Object.keys(FORMATS) as Format[]).find((name) => FORMATS[name] === value);
  if (!format) throw invalidArgument("format: must be one of the formats");
  return format;
}

/** Undefined: the header names of the format itself. */
export function presetOf(value: HookPreset): Preset | undefined {
  if (value === HookPreset.UNSPECIFIED) return undefined;
  const preset = (Object.keys(PRESETS) as Preset[]).find((name) => PRESETS[name] === value);
  if (!preset) throw invalidArgument("preset: not known");
  return preset;
}

/** Undefined when the request does not say. */
export function argumentsOf(message: ArgumentsMessage | undefined): ArgumentSource | undefined {
  const { source } = message ?? {};
  if (source?.case === undefined) return undefined;
  return { from: source.case, pointers: source.case === "fields" ? {} : { ...source.value.pointers } };
}

export function toHook(
  row: HookRow,
  { publicUrl }: { publicUrl: string },
  { deliveries, failed }: Pick<HookFigures, "deliveries" | "failed"> = { deliveries: 0, failed: 0 },
): MessageInitShape<typeof HookSchema> {
  const { id, name, format, limit, active, target, refusedInARow, lastReceivedAt } = row;
  return {
    id: BigInt(id),
    name,
    shownUrl: hookUrl(publicUrl, row.shownUrl),
    format: FORMATS[format],
    preset: row.preset ? PRESETS[row.preset] : HookPreset.UNSPECIFIED,
    target: { target: { case: target.kind, value: target.name } },
    arguments: toArguments(row.arguments),
    limit,
    toleranceSeconds: hasTime(format) ? row.toleranceSeconds : 0,
    active,
    createdAt: timestampOf(row.createdAt),
    ...(lastReceivedAt && { lastReceivedAt: timestampOf(lastReceivedAt) }),
    deliveriesLast24h: deliveries,
    failedLast24h: failed,
    refusedInARow,
    version: row.version,
    savedAt: timestampOf(row.savedAt),
    savedBy: row.savedBy,
  };
}

function toArguments({ from, pointers }: ArgumentSource): MessageInitShape<typeof HookArgumentsSchema> {
  if (from === "fields") return { source: { case: from, value: {} } };
  return { source: { case: from, value: { pointers: { ...pointers } } } };
}
