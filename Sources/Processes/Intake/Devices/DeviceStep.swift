import EventLoop
import RedisClient
import Registry
import StoreProtocol

/// One step of a device intake: takes inputs, applies them, and finishes them.
@Loop struct DeviceStep {
    let intake: DeviceIntake
    let token: FenceToken
    /// Whether the step handles only one input, which an earlier process took.
    let isAlone: Bool

    /// The maximum number of inputs in one take.
    static let mostInputs = 2_000
    /// The step parses and applies this number of inputs at a time. The more inputs the writer applies together, the less
    /// work each input is for Redis, because the writer changes each bitmap once.
    private static let portion = 1_000
    /// The maximum size in bytes of all inputs of one take.
    private static let takenBytes = 1 << 20
    /// After this number of parsed inputs, other tasks of the process run.
    private static let slice = 50

    /// Takes inputs. Redis refuses inputs that are too large or crashed the intake too often. If the reply has only
    /// refusals, the list of inputs may still contain further inputs.
    func take() async throws(StoreError) -> TakeInputs.Reply {
        let taken = try await retrying("take", request(most: Self.mostInputs, triedBy: process))
        count(finished: taken.refused, refused: taken.refused)
        if taken.refused > 0 {
            intake.log.notice(
                isAlone
                    ? "device input refused: it crashed the intake repeatedly, or is too large"
                    : "device inputs refused: larger than \(DeviceInputRules.mostBytes) bytes",
                metadata: ["inputs": "\(taken.refused)"])
        }
        return taken
    }

    /// Makes this process the only writer of the registry.
    func takeOver() async throws(StoreError) {
        // The scripts that suppress invalid tokens read this field in the farm's Redis. It tells them that the app has
        // a registry.
        let settings = InitRegistryField(ReadRegistrySettings.partitionsField, RegistryKeys.partitions)
        _ = try await retrying("prepare the registry of", settings)
        try await working { () throws(StoreError) in try await intake.writer.takeOver() }
    }

    /// Applies the taken inputs and then removes them from Redis.
    func carryOut(_ taken: TakeInputs.Reply) async throws(StoreError) {
        let inputs = taken.inputs
        var refusals: [FinishInputs.Refusal] = []
        var parsed = await parse(inputs.prefix(Self.portion))
        for start in stride(from: 0, to: inputs.count, by: Self.portion) {
            // While Redis applies this portion, the process parses the next portion.
            async let next = parse(inputs.dropFirst(start + Self.portion).prefix(Self.portion))
            refusals += try await apply(parsed).map {
                FinishInputs.Refusal($0.error, index: start + $0.index)
            }
            parsed = await next
        }
        let reply = try await retrying(
            "finish",
            FinishInputs(
                .devices, token: token, step: taken.step + 1, finished: taken.inputs.count, refused: refusals)
        )
        count(finished: taken.inputs.count, refused: refusals.count)
        log(refusals, reply)
    }

    /// Applies a portion of the taken inputs.
    ///
    /// - Returns: the refused inputs, in order of their indexes in the portion.
    private func apply(
        _ parsed: ParsedDeviceInputs
    ) async throws(StoreError) -> [ParsedDeviceInputs.Refusal] {
        guard !parsed.inputs.isEmpty else { return parsed.refusals }
        let results = try await working { () throws(StoreError) in
            try await intake.writer.apply(parsed.inputs) { () throws(StoreError) in try await checkLease() }
        }
        guard results.count == parsed.inputs.count else {
            throw .unexpectedReply("got \(results.count) results for \(parsed.inputs.count) device inputs")
        }
        let refused = zip(results, parsed.indexes).compactMap { error, index in
            error.map { ParsedDeviceInputs.Refusal(index: index, error: $0) }
        }
        return (parsed.refusals + refused).sorted { $0.index < $1.index }
    }

    private func parse(_ texts: ArraySlice<[UInt8]>) async -> ParsedDeviceInputs {
        var parsed = ParsedDeviceInputs()
        for text in texts {
            if parsed.count % Self.slice == Self.slice - 1 { await Task.yield() }
            parsed.append(text, rules: intake.rules)
        }
        return parsed
    }

    /// Throws unless this process still owns the app's intake.
    private func checkLease() async throws(StoreError) {
        _ = try await retrying("check the lease of", request(most: 0, triedBy: process))
    }

    private var process: String? { isAlone ? intake.process : nil }

    private func request(most: Int, triedBy process: String?) -> TakeInputs {
        TakeInputs(
            .devices, token: token, maxInputs: most, maxBytes: Self.takenBytes,
            maxInputBytes: DeviceInputRules.mostBytes, triedBy: process)
    }

    private func count(finished: Int, refused: Int) {
        intake.context.counts.deviceInputs += UInt64(clamping: finished)
        intake.context.counts.refusedDeviceInputs += UInt64(clamping: refused)
        let counts = intake.context.counts(of: intake.name)
        counts.deviceInputs += UInt64(clamping: finished)
        counts.refusedDeviceInputs += UInt64(clamping: refused)
    }

    private func log(_ refusals: [FinishInputs.Refusal], _ reply: FinishInputs.Reply) {
        // Refused inputs that were only counted, and caused no event, are not logged, so that a flood of refusals does not fill
        // the log.
        guard let first = refusals.first, reply != .done(events: 0) else { return }
        intake.log.info(
            "device inputs refused",
            metadata: [
                "inputs": "\(refusals.count)", "device": "\(first.subject ?? "")", "field": "\(first.field)",
                "reason": "\(first.reason)",
            ])
    }
}

// MARK: Calls

extension DeviceStep {
    /// Runs a call of the writer. While any app's jobs are split one by one, no app splits jobs during this call. So
    /// if the process crashes, only one call or job can be the cause.
    private func working<Reply>(
        _ call: @Loop () async throws(StoreError) -> Reply
    ) async throws(StoreError) -> Reply {
        let (isolation, turn) = (intake.context.isolation, "devices of \(intake.name)")
        await isolation.begin(turn)
        defer { isolation.end(turn) }
        intake.writer.onWait = { isWaiting in
            guard isWaiting else { return await isolation.begin(turn) }
            isolation.end(turn)
            await forgetTries()
        }
        do throws(StoreError) { return try await call() } catch {
            await forgetTries()
            throw error
        }
    }

    /// Makes Redis forget that this process tried an input, because the input has not crashed the process. A process that is stopped
    /// calls this too: a regular end is not a crash.
    private func forgetTries() async {
        guard isAlone else { return }
        _ = try? await intake.store.perform(request(most: 0, triedBy: nil))
    }

    /// Repeats a request while Redis cannot carry it out or is unreachable. Logs each outage once.
    ///
    /// - Throws: an error that retries do not fix, or the last error when the task is cancelled.
    private func retrying<Step: Request>(
        _ what: String, _ request: Step
    ) async throws(StoreError) -> Step.Reply {
        let retry = OutageRetry(log: intake.log, metadata: ["request": "\(what) device inputs"])
        return try await retry.perform { () throws(StoreError) in try await intake.store.perform(request) }
    }
}

extension FinishInputs.Refusal {
    fileprivate init(_ error: DeviceInputError, index: Int) {
        self.init(
            index: index, subject: error.device, field: error.field, position: error.position,
            reason: error.reason)
    }
}
