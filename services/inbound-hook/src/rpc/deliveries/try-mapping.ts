import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  HookDeliveryService,
  MappingViolationSchema,
  TryMappingRequest,
} from "@toolgate/gen/toolgate/inbound_hook/v1/hook_delivery_pb";
import { createRedactor } from "@toolgate/redaction/redactor";
import type { Handler } from "@toolgate/service-host/handler";
import { principalOf } from "@toolgate/service-host/principal";
import type { ReceiverContext } from "../../context.ts";
import { containsMarker } from "../../domain/arguments/fence.ts";
import { dataForTarget, MAX_BODY_BYTES, TOO_LARGE } from "../../domain/arguments/mapping.ts";
import { parseBody } from "../../domain/call/body.ts";
import { findHook } from "../../store/hooks.ts";
import { findDelivery } from "../../store/log/read.ts";
import { argumentsIfReleased } from "../hooks/check-target.ts";
import { argumentsOf } from "../hooks/hook-message.ts";
import { hookKey, invalidArgument, noSuchHook } from "../request-fields.ts";
import { noSuchDelivery } from "./delivery-message.ts";

type Violation = MessageInitShape<typeof MappingViolationSchema>;

const NOT_RELEASED: Violation = { rule: "released", message: "the target is not released for hooks" };
const SIZE: Violation = { rule: "size", message: TOO_LARGE };
const MARKER: Violation = { rule: "marker", message: "{{ is not allowed" };

const redact = createRedactor();

export const tryMapping: Handler<ReceiverContext, typeof HookDeliveryService.method.tryMapping> = async (
  context,
  request,
  call,
) => {
  const key = hookKey(principalOf(call), request.hookId);
  const { workspaceId } = key;
  const hook = await findHook(context.pool, key);
  if (!hook) throw noSuchHook();
  const { bytes, contentType } = await bodyOf(context, workspaceId, request);
  const wanted = argumentsOf(request.arguments);
  const source = wanted ? await argumentsIfReleased(context.targets, workspaceId, hook.target, wanted) : hook.arguments;
  if (!source) return { violations: [NOT_RELEASED] };
  const parsed = parseBody(bytes, contentType, "");
  if (!parsed.ok) return { violations: [{ rule: "body", message: parsed.fault }] };
  const args = dataForTarget(hook.target.kind, source, parsed.value);
  if (!args) return { violations: [SIZE] };
  const { kind, name } = hook.target;
  if (kind === "assistant") {
    // [IN-61] An assistant gets the mapped data as it is.
    if (!(await context.targets.isAssistantReleased(workspaceId, name))) return { violations: [NOT_RELEASED] };
    return containsMarker(JSON.stringify(args)) ? { violations: [MARKER] } : { argsJson: JSON.stringify(redact(args)) };
  }
  const body = Buffer.from(JSON.stringify({ args }));
  const checked = await context.targets.checkTool(workspaceId, name, { body, fromForm: parsed.isForm });
  if (!checked.released) return { violations: [NOT_RELEASED] };
  const violations = checked.violations.map(({ field, rule, message }) => ({ field, rule, message }));
  return { violations, argsJson: Buffer.from(checked.argsJson).toString() };
};

async function bodyOf({ pool }: ReceiverContext, workspaceId: string, { source, contentType }: TryMappingRequest) {
  if (source.case === "body") {
    if (source.value.byteLength > MAX_BODY_BYTES) throw invalidArgument(`body: at most ${MAX_BODY_BYTES} bytes`);
    return { bytes: source.value, contentType };
  }
  if (source.case === undefined) throw invalidArgument("source: name a delivery or paste a body");
  const found = await findDelivery(pool, workspaceId, source.value);
  if (!found) throw noSuchDelivery();
  return { bytes: found.body, contentType: found.contentType };
}
