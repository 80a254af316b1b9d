import { createConnectQueryKey, useMutation, useTransport } from "@connectrpc/connect-query";
import { useQueryClient } from "@tanstack/react-query";
import { ProposalService } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { useWorkspace } from "../../rpc/use-session.ts";

/** Confirms a proposal in the user's name; its card then shows what became of it. */
export function useConfirmProposal() {
  const workspace = useWorkspace();
  const client = useQueryClient();
  const transport = useTransport();
  const { mutateAsync, isPending, error } = useMutation(ProposalService.method.confirmProposal);
  return {
    isPending,
    error,
    async confirm(proposalId: string): Promise<void> {
      const queryKey = createConnectQueryKey({
        schema: ProposalService.method.getProposal,
        transport,
        input: { workspace, proposalId },
        cardinality: "finite",
      });
      try {
        await mutateAsync({ workspace, proposalId });
      } finally {
        await client.invalidateQueries({ queryKey });
      }
    },
  };
}
