import { createConnectQueryKey, useMutation, useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { type Proposal, ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { useWorkspace } from "../../rpc/use-session.ts";

/** Confirms proposals in the user's name; their cards then show what became of them. */
export function useConfirmProposal() {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const transport = useTransport();
  const { mutateAsync, isPending, error } = useMutation(ProposalService.method.confirmProposal);
  const keyOf = (proposalId: string) =>
    createConnectQueryKey({
      schema: ProposalService.method.getProposal,
      transport,
      input: { workspace, proposalId },
      cardinality: "finite",
    });
  return {
    isPending,
    error,
    /** As its card shows it; undefined when the card could not load it. */
    shown(proposalId: string): Proposal | undefined {
      const state = client.getQueryState(keyOf(proposalId));
      return state?.status === "success" ? state.data?.proposal : undefined;
    },
    async confirm(proposalId: string): Promise<void> {
      try {
        await mutateAsync({ workspace, proposalId });
      } finally {
        await client.invalidateQueries({ queryKey: keyOf(proposalId) });
      }
    },
  };
}
