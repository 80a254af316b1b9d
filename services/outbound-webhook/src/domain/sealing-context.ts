/** What an endpoint's sealed secret is bound to. */
export function sealingContext(endpointId: number): string {
  return `endpoint:${endpointId}`;
}
