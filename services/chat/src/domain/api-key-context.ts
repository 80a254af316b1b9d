/** What the API key of a workspace's model is sealed for. */
export function apiKeyContext(workspaceId: string, model: string): string {
  return `model:${workspaceId}/${model}`;
}
