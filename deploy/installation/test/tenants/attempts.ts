import { HOOKED, MARKER, SPARE_ASSISTANT, type Things } from "./rig.ts";

interface Attempt {
  /** The request of the first tenant, with its ids and names. */
  request: (things: Things) => Record<string, unknown>;
  /** The response to the second tenant in its own workspace: not found, its own data, or refused. */
  foreign: 404 | 200 | 400;
}

const RANGE = { range: { from: new Date(Date.now() - 3_600_000).toISOString(), selection: "REPLAY_SELECTION_ALL" } };

const listing: Attempt = { request: () => ({}), foreign: 200 };
const ofDelivery: Attempt = { request: ({ deliveryId }) => ({ deliveryId }), foreign: 404 };
const named = (foreign: 404 | 200): Attempt => ({ request: () => ({ name: MARKER }), foreign });
const ofKey = (more: object = {}): Attempt => ({ request: ({ keyId }) => ({ keyId, ...more }), foreign: 404 });
const ofEndpoint = (foreign: 404 | 200, more: object = {}): Attempt => ({
  request: ({ endpointId }) => ({ endpointId, ...more }),
  foreign,
});
const ofResting = (foreign: 404 | 200, more: (things: Things) => object = () => ({})): Attempt => ({
  request: (things) => ({ endpointId: things.restingEndpointId, ...more(things) }),
  foreign,
});

const ofMember = (more: object = {}): Attempt => ({
  request: ({ memberId }) => ({ userId: memberId, ...more }),
  foreign: 404,
});

const ofHook = (more: object = {}): Attempt => ({ request: ({ hookId }) => ({ hookId, ...more }), foreign: 404 });
const ofProposal: Attempt = { request: ({ proposalId }) => ({ proposalId }), foreign: 404 };
const ofHookDelivery: Attempt = { request: ({ hookDeliveryId }) => ({ deliveryId: hookDeliveryId }), foreign: 404 };

/** Every RPC that people may call in a workspace. The first tenant calls them in this order: deleting comes last. */
export const ATTEMPTS: Record<string, Attempt> = {
  "key_auth.v1.AuditService/ListAuditEntries": listing,
  "key_auth.v1.MemberService/ListMembers": listing,
  "key_auth.v1.MemberService/ListInvitations": listing,
  "key_auth.v1.MemberService/CreateInvitation": {
    request: () => ({ email: "ada@example.test", role: "ROLE_MEMBER" }),
    foreign: 200,
  },
  "key_auth.v1.MemberService/ChangeRole": ofMember({ role: "ROLE_MANAGER" }),
  "key_auth.v1.MemberService/EndMemberSessions": ofMember(),
  "key_auth.v1.MemberService/CreatePasswordLink": ofMember(),
  "key_auth.v1.MemberService/RemoveMember": ofMember(),
  "key_auth.v1.MemberService/WithdrawInvitation": {
    request: ({ invitationId }) => ({ invitationId }),
    foreign: 404,
  },
  "key_auth.v1.KeyService/ListKeys": listing,
  "key_auth.v1.KeyService/CreateKey": { request: () => ({ name: MARKER }), foreign: 200 },
  "key_auth.v1.KeyService/GetKey": ofKey(),
  "key_auth.v1.KeyService/ListKeyCalls": ofKey(),
  "key_auth.v1.KeyService/GetHourlyCounts": { request: ({ keyId }) => ({ ids: [keyId] }), foreign: 200 },
  "key_auth.v1.KeyService/ExplainCall": ofKey({ tool: MARKER }),
  "key_auth.v1.KeyService/UpdateKey": ofKey({ limit: 7 }),
  "key_auth.v1.KeyService/RotateKey": ofKey(),
  "key_auth.v1.KeyService/RevokeKey": ofKey(),
  "key_auth.v1.KeyService/GetKeyOverview": listing,
  "gateway.v1.OverviewService/GetOverview": listing,
  "tool_runner.v1.ToolService/GetToolOverview": listing,
  "outbound_webhook.v1.EndpointService/GetEndpointOverview": listing,
  "inbound_hook.v1.HookService/GetHookOverview": listing,
  "chat.v1.ModelService/GetChatOverview": listing,
  "tool_runner.v1.ExecutionService/ListExecutions": listing,
  "tool_runner.v1.ExecutionService/GetExecution": {
    request: ({ executionId }) => ({ executionId }),
    foreign: 404,
  },
  "tool_runner.v1.ExecutionService/GetHourlyCounts": { request: () => ({ ids: [MARKER] }), foreign: 200 },
  "tool_runner.v1.ToolService/ListTools": listing,
  "tool_runner.v1.ToolService/GetTool": named(404),
  "tool_runner.v1.ToolService/ListToolVersions": named(404),
  "tool_runner.v1.ToolService/GetToolVersion": { request: () => ({ name: MARKER, version: 1 }), foreign: 404 },
  "tool_runner.v1.ToolService/CheckTool": {
    request: () => ({ name: MARKER, definition: { description: "d", handler: "export default () => ({});" } }),
    foreign: 200,
  },
  "tool_runner.v1.ToolService/DryRun": { request: () => ({ tool: MARKER }), foreign: 404 },
  "tool_runner.v1.ProposalService/GetProposal": ofProposal,
  "tool_runner.v1.ProposalService/ConfirmProposal": ofProposal,
  "tool_runner.v1.ToolService/RestoreToolVersion": {
    request: () => ({ name: MARKER, version: 1, confirmExposure: true }),
    foreign: 404,
  },
  "tool_runner.v1.ToolService/SaveTool": {
    request: () => ({ name: MARKER, definition: { description: "d", handler: "export default () => ({});" } }),
    foreign: 200,
  },
  "tool_runner.v1.ToolService/DeleteTool": named(404),
  "tool_runner.v1.ToolService/GetApiDescription": { request: () => ({}), foreign: 200 },
  "tool_runner.v1.ToolService/SetApiDescription": { request: () => ({ about: { title: "other" } }), foreign: 200 },
  "tool_runner.v1.DataSourceService/ListPreparedQueries": listing,
  "tool_runner.v1.DataSourceService/ListSecrets": listing,
  "tool_runner.v1.DataSourceService/ListVariables": listing,
  "tool_runner.v1.DataSourceService/ListSheets": listing,
  "tool_runner.v1.DataSourceService/ReadSheet": named(404),
  "tool_runner.v1.DataSourceService/SetDataSource": {
    request: ({ dataSourceUrl }) => ({ url: dataSourceUrl }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/GetDataSource": { request: () => ({}), foreign: 200 },
  "tool_runner.v1.DataSourceService/TestDataSource": {
    request: ({ dataSourceUrl }) => ({ url: dataSourceUrl }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/DryRunQuery": {
    request: () => ({ query: { name: MARKER, sql: "select 2" } }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/SavePreparedQuery": {
    request: () => ({ query: { name: MARKER, sql: "select 2" } }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/SaveSecret": {
    request: () => ({ name: MARKER, value: "another-secret", hosts: ["other.test"] }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/SaveVariable": {
    request: () => ({ variable: { name: MARKER, value: "other" } }),
    foreign: 200,
  },
  "tool_runner.v1.DataSourceService/DeletePreparedQuery": named(404),
  "tool_runner.v1.DataSourceService/DeleteSecret": named(404),
  "tool_runner.v1.DataSourceService/DeleteVariable": named(404),
  "tool_runner.v1.DataSourceService/DeleteSheet": named(404),
  "chat.v1.AssistantService/ListAssistants": listing,
  "chat.v1.AssistantService/GetAssistant": named(404),
  "chat.v1.AssistantService/ListAssistantVersions": named(404),
  "chat.v1.AssistantService/SaveAssistant": {
    request: () => ({ name: MARKER, definition: { instructions: "other" } }),
    foreign: 200,
  },
  "chat.v1.AssistantService/SetDefaultAssistant": named(200),
  "chat.v1.AssistantService/DeleteAssistant": { request: () => ({ name: SPARE_ASSISTANT }), foreign: 404 },
  "chat.v1.AssistantService/GetChatSettings": { request: () => ({}), foreign: 200 },
  "chat.v1.AssistantService/UpdateChatSettings": { request: () => ({ tokensPerDay: "7" }), foreign: 200 },
  "chat.v1.ChatLogService/ListChats": listing,
  "chat.v1.ChatLogService/GetToolCall": {
    request: ({ callId }) => ({ chatId: MARKER, callId }),
    foreign: 404,
  },
  "chat.v1.ModelService/ListModels": listing,
  "chat.v1.ModelService/GetUsage": listing,
  "chat.v1.ModelService/SaveModel": {
    request: ({ receiverUrl }) => ({
      name: MARKER,
      provider: "MODEL_PROVIDER_ANTHROPIC",
      baseUrl: receiverUrl,
      model: "other",
      apiKey: "another-secret",
    }),
    foreign: 200,
  },
  "chat.v1.ModelService/TestModel": {
    request: ({ receiverUrl }) => ({
      name: MARKER,
      provider: "MODEL_PROVIDER_OPENAI_COMPATIBLE",
      baseUrl: receiverUrl,
      model: "other",
    }),
    foreign: 200,
  },
  "chat.v1.ModelService/DeleteModel": named(404),
  "inbound_hook.v1.HookService/ListHooks": listing,
  "inbound_hook.v1.HookService/GetHook": ofHook(),
  // Its target is not released in the other workspace.
  "inbound_hook.v1.HookService/CreateHook": {
    request: () => ({ name: MARKER, format: "HOOK_FORMAT_NATIVE", target: { tool: HOOKED } }),
    foreign: 400,
  },
  "inbound_hook.v1.HookDeliveryService/ListHookDeliveries": listing,
  "inbound_hook.v1.HookDeliveryService/GetHookDelivery": ofHookDelivery,
  "inbound_hook.v1.HookDeliveryService/ListRefusedCalls": listing,
  "inbound_hook.v1.HookDeliveryService/TryMapping": {
    request: ({ hookId, hookDeliveryId }) => ({ hookId, deliveryId: hookDeliveryId }),
    foreign: 404,
  },
  "inbound_hook.v1.HookDeliveryService/ReprocessHookDelivery": ofHookDelivery,
  "inbound_hook.v1.HookService/UpdateHook": ofHook({ limit: 7 }),
  "inbound_hook.v1.HookService/RotateHookSecret": ofHook(),
  "inbound_hook.v1.HookService/DeleteHook": ofHook(),
  "outbound_webhook.v1.EventService/ListEventTypes": listing,
  "outbound_webhook.v1.DeliveryService/ListDeliveries": ofEndpoint(200),
  "outbound_webhook.v1.DeliveryService/GetDelivery": ofDelivery,
  "outbound_webhook.v1.DeliveryService/GetDeliveryAsCurl": ofDelivery,
  "outbound_webhook.v1.DeliveryService/ResendDelivery": ofDelivery,
  "outbound_webhook.v1.DeliveryService/GetEndpointBacklog": ofEndpoint(404),
  "outbound_webhook.v1.DeliveryService/DebugSignature": {
    request: ({ endpointId, deliveryId }) => ({ endpointId, deliveryId, body: "e30=", headers: "a: b" }),
    foreign: 404,
  },
  "outbound_webhook.v1.ReplayService/PreviewReplay": ofEndpoint(404, RANGE),
  "outbound_webhook.v1.ReplayService/StartReplay": ofEndpoint(404, RANGE),
  "outbound_webhook.v1.ReplayService/GetReplay": { request: ({ replayId }) => ({ replayId }), foreign: 404 },
  "outbound_webhook.v1.ReplayService/ListReplays": ofEndpoint(404),
  "outbound_webhook.v1.ReplayService/CancelReplay": { request: ({ replayId }) => ({ replayId }), foreign: 404 },
  "outbound_webhook.v1.UndeliveredService/ListUndelivered": ofResting(404),
  "outbound_webhook.v1.UndeliveredService/CountUndelivered": ofResting(404),
  "outbound_webhook.v1.EndpointService/ListEndpoints": listing,
  "outbound_webhook.v1.EndpointService/CreateEndpoint": {
    request: ({ receiverUrl }) => ({ url: receiverUrl, events: ["custom.*"] }),
    foreign: 200,
  },
  "outbound_webhook.v1.EndpointService/GetEndpoint": ofEndpoint(404),
  "outbound_webhook.v1.EndpointService/SendTestEvent": ofEndpoint(404),
  "outbound_webhook.v1.EndpointService/UpdateEndpoint": ofEndpoint(404, { description: "changed" }),
  "outbound_webhook.v1.EndpointService/RotateSecret": ofEndpoint(404),
  "outbound_webhook.v1.EndpointService/DeleteEndpoint": ofEndpoint(404),
};
