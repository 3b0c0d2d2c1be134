import EventLoop

/// Polls until a condition is true. Use this function only if no event tells that the condition is true, for example for a
/// simulator's counter.
/// - Returns: false if the condition is not true before the timeout.
@Loop package func until(_ condition: @escaping @Loop () -> Bool) async -> Bool {
    let mailbox = Mailbox<Bool>()
    var rounds = 0
    let timer = Timer {
        rounds += 1
        guard condition() || rounds > 20_000 else { return }
        mailbox.put(rounds <= 20_000)
    }
    timer.start(after: .zero, every: .milliseconds(1))
    defer { timer.stop() }
    return (try? await mailbox.next()) ?? false
}
