import Testing

/// Tests that keep the processors busy, one at a time.
@Suite(.serialized, .timeLimit(.minutes(3))) enum BusyFarms {}

/// Tests that mostly wait for a time-out or a delay, one at a time, beside the busy ones.
@Suite(.serialized, .timeLimit(.minutes(3))) enum PatientFarms {}
