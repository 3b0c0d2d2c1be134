import RandomTesting

/// Tries inputs until a time limit. Runs with the same seed and corpus try the same inputs in the same order.
package struct FuzzLoop {
    package struct Failure: Error, CustomStringConvertible {
        package let input: [UInt8]
        package let violation: Violation
        package var description: String { violation.description }
    }

    private let target: FuzzTarget
    private let corpus: [[UInt8]]
    private let seed: UInt64

    package init(_ target: FuzzTarget, corpus: [[UInt8]], seed: UInt64) {
        (self.target, self.corpus, self.seed) = (target, corpus, seed)
    }

    /// - Parameters:
    ///   - spent: a clock. On a busy machine, choose a clock of processor time: then other processes do not reduce the
    ///     number of inputs.
    ///   - trying: receives each input before it is tried, because a trap leaves no other trace of the input.
    /// - Returns: the number of inputs that were tried.
    package func run(
        for duration: Duration, spent: () -> Duration, trying: ([UInt8]) -> Void
    ) throws(Failure) -> Int {
        for input in corpus { try attempt(input, trying) }
        guard !corpus.isEmpty else { return 0 }
        let mutator = Mutator(target, corpus: corpus)
        var random = SplitMix(seed: seed)
        var count = corpus.count
        let end = spent() + duration
        while spent() < end {
            try attempt(mutator.next(using: &random), trying)
            count += 1
        }
        return count
    }

    private func attempt(_ input: [UInt8], _ trying: ([UInt8]) -> Void) throws(Failure) {
        trying(input)
        do throws(Violation) { try target.check(input) } catch {
            throw Failure(input: input, violation: error)
        }
    }
}
