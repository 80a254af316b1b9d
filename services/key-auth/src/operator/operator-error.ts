/** A command that cannot be done as given; the message is for the operator. */
export class OperatorError extends Error {}
