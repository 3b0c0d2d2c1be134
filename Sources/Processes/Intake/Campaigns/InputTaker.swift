import EventLoop
import Logging
import RedisClient
import StoreProtocol

/// Takes the inputs of one list of an app, and removes inputs that are finished, for the owner of the app's intake.
///
/// If the process is killed, the next owner takes the same inputs again. The inputs that an earlier process took are tried one by
/// one, because one of them may have crashed that process.
@Loop final class InputTaker {
    /// The maximum number of inputs in one take.
    private static let mostInputs = 100
    /// The maximum size in bytes of all inputs of one take.
    private static let takenBytes = 1 << 20

    private let list: InputList
    private let store: AppRedis
    private let log: Logger
    private let token: FenceToken
    /// The unique name of this process.
    private let process: String
    private let mostBytes: Int
    private var isAlone = true

    /// - Parameter mostBytes: the maximum length of one input; a longer input is refused.
    init(
        _ list: InputList, store: AppRedis, log: Logger, token: FenceToken, process: String, mostBytes: Int
    ) {
        (self.list, self.store, self.log) = (list, store, log)
        (self.token, self.process, self.mostBytes) = (token, process, mostBytes)
    }

    /// Takes inputs, lets `handle` apply them, and removes them.
    ///
    /// - Parameter handle: applies the input with this step number and index in the step. Returns why the input is refused, or
    ///   nil. Applying the same input again must change nothing.
    /// - Returns: whether the list may contain further inputs.
    func handleNext(
        _ handle:
            @Loop (_ input: [UInt8], _ step: Int, _ index: Int) async throws(StoreError) ->
            FinishInputs.Refusal?
    ) async throws(StoreError) -> Bool {
        try await handleAll { inputs, step throws(StoreError) in
            var refusals: [FinishInputs.Refusal] = []
            for (index, input) in inputs.enumerated() {
                if let refusal = try await handle(input, step, index) { refusals.append(refusal) }
            }
            return refusals
        }
    }

    /// Takes inputs, lets `handle` apply all of them, and removes them.
    ///
    /// - Parameter handle: applies the inputs of the step with this number. Returns the refused inputs in order. Applying the same
    ///   inputs again must change nothing.
    /// - Returns: whether the list may contain further inputs.
    func handleAll(
        _ handle:
            @Loop (_ inputs: [[UInt8]], _ step: Int) async throws(StoreError) -> [FinishInputs.Refusal]
    ) async throws(StoreError) -> Bool {
        let taken = try await retrying("take", take(most: Self.mostInputs, isAlone: isAlone))
        if taken.refused > 0 {
            log.notice(
                "inputs refused: too large, or they crashed the intake repeatedly",
                metadata: ["list": "\(list.rawValue)", "inputs": "\(taken.refused)"])
        }
        guard !taken.inputs.isEmpty else {
            let mayHaveMore = isAlone || taken.refused > 0
            if taken.refused == 0 { isAlone = false }
            return mayHaveMore
        }
        let refusals: [FinishInputs.Refusal]
        do throws(StoreError) { refusals = try await handle(taken.inputs, taken.step + 1) } catch {
            // The error did not crash the process, so the try does not count.
            if isAlone { _ = try? await store.perform(take(most: 0, isAlone: false)) }
            throw error
        }
        let reply = try await retrying(
            "finish",
            FinishInputs(
                list, token: token, step: taken.step + 1, finished: taken.inputs.count, refused: refusals))
        log(refusals, reply)
        return true
    }

    private func take(most: Int, isAlone: Bool) -> TakeInputs {
        TakeInputs(
            list, token: token, maxInputs: most, maxBytes: Self.takenBytes, maxInputBytes: mostBytes,
            triedBy: isAlone ? process : nil)
    }

    private func log(_ refusals: [FinishInputs.Refusal], _ reply: FinishInputs.Reply) {
        // Refused inputs that were only counted, and caused no event, are not logged, so that a flood of refusals does not fill
        // the log.
        guard let first = refusals.first, reply != .done(events: 0) else { return }
        log.info(
            "inputs refused",
            metadata: [
                "list": "\(list.rawValue)", "inputs": "\(refusals.count)", "field": "\(first.field)",
                "reason": "\(first.reason)",
            ])
    }

    private func retrying<Step: Request>(
        _ what: String, _ request: Step
    ) async throws(StoreError) -> Step.Reply {
        let retry = OutageRetry(log: log, metadata: ["request": "\(what) \(list.rawValue)"])
        return try await retry.perform { () throws(StoreError) in try await store.perform(request) }
    }
}
