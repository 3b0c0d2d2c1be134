import Testing

// Chains of farms: in each, one farm at a time; the chains beside each other. Most of a farm's time is waiting, so some chains
// fill two processors, and more farms at a time would wait for them longer than for what they are about. What is added goes
// where its subject is; the chains are about equally long.

/// Farms that have much to do.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum BusyFarms {}

/// Farms that mostly wait for a time-out or a delay.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum PatientFarms {}

/// Farms whose processes and connections end.
@Suite(.serialized, .timeLimit(.minutes(5)), .keepsTraces) enum BrokenFarms {}

/// Farms that find out which tokens are dead, and leave them out.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum TokenFarms {}

/// Farms at the binary interface, which wait for its silence.
@Suite(.serialized, .timeLimit(.minutes(3)), .keepsTraces) enum BinaryFarms {}
