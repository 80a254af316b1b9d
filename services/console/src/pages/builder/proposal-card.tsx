import { timestampDate } from "@bufbuild/protobuf/wkt";
import { useQuery } from "@connectrpc/connect-query";
import { type Proposal, ProposalService, ProposalState } from "@toolgate/gen/toolgate/tool_runner/v1/proposal_pb";
import { failureOf } from "../../rpc/errors.ts";
import { useWorkspace } from "../../rpc/use-session.ts";
import { BUILDER } from "../../text/en/assistants/builder.ts";
import { FailureText } from "../../ui/page/failure.tsx";
import { Status } from "../../ui/status.tsx";
import { DefinitionDiff } from "../definition/diff/definition-diff.tsx";
import styles from "./builder.module.css";
import { ProposalQuestion } from "./proposal-question.tsx";
import { type LastQuestion, takesYes } from "./question.ts";

/** An open proposal is read again when it has expired, and not more often, whatever this machine's clock says. */
const MIN_WAIT_MS = 5_000;

interface ProposalCardProps {
  proposalId: string;
  last: LastQuestion | undefined;
}

/** A change that the builder assistant proposes: the difference, what it opens, and the question. */
export function ProposalCard({ proposalId, last }: ProposalCardProps) {
  const workspace = useWorkspace();
  const { data, error, refetch } = useQuery(
    ProposalService.method.getProposal,
    { workspace, proposalId },
    { gcTime: 0, refetchInterval: ({ state }) => untilEndMs(state.data?.proposal) },
  );
  if (error) return <FailureText failure={failureOf(error)} onRetry={() => void refetch()} />;
  const proposal = data?.proposal;
  if (!proposal) return <p className={styles.dim}>{BUILDER.loading}</p>;
  const { tool, before = {}, after = {}, state } = proposal;
  return (
    <section aria-label={BUILDER.proposal(tool)} className={styles.card}>
      <header>
        <h2>{BUILDER.proposal(tool)}</h2>
        <State proposal={proposal} />
      </header>
      <DefinitionDiff before={before} after={after} />
      {state === ProposalState.OPEN && (
        <ProposalQuestion proposal={proposal} orYes={last?.proposalId === proposalId && takesYes(last, proposal)} />
      )}
      {state === ProposalState.EXPIRED && <p>{BUILDER.expiredText}</p>}
      {state === ProposalState.OUTDATED && <p>{BUILDER.outdatedText}</p>}
    </section>
  );
}

function State({ proposal: { state, savedVersion } }: { proposal: Proposal }) {
  if (state === ProposalState.CONFIRMED) return <Status tone="good">{BUILDER.confirmed(savedVersion)}</Status>;
  if (state === ProposalState.OPEN) return <Status tone="warn">{BUILDER.open}</Status>;
  return <Status tone="dim">{state === ProposalState.EXPIRED ? BUILDER.expired : BUILDER.outdated}</Status>;
}

function untilEndMs(proposal: Proposal | undefined): number | false {
  if (proposal?.state !== ProposalState.OPEN || !proposal.expiresAt) return false;
  return Math.max(timestampDate(proposal.expiresAt).getTime() - Date.now(), MIN_WAIT_MS);
}
