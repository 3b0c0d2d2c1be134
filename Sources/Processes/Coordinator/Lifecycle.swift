/// The phases of a coordinator process, from its start through an upgrade to its end.
///
///     starting ────────────────▶ serving ─────▶ upgrading ─────▶ handedOver
///         └──▶ awaitingHostName ────▲  ▲─────────────┘               │
///                                                                    │
///     every phase but starting ───────────▶ stopping ◀───────────────┘
///
/// A transition that the current phase does not allow is a programming error and ends the process.
final class Lifecycle {
    enum Phase: Equatable {
        /// The process has not started a child yet, so it may exit at once.
        case starting(Role)
        /// The children run. The predecessor still has the host's name.
        case awaitingHostName
        case serving
        /// A successor process exists.
        case upgrading(UpgradeStep)
        /// The successor has all shards and gets the host's name.
        case handedOver
        case stopping(Ending)
    }

    enum Role: Equatable {
        /// The process starts the host, and has no predecessor.
        case first
        /// A predecessor has started the process in an upgrade.
        case successor
    }

    enum UpgradeStep: Equatable {
        /// The successor starts its children.
        case preparing
        /// The successor gets the shards, a few at a time.
        case handingOver
        /// Every shard is handed over, and the children of this process end.
        case endingChildren
        /// An operator has aborted the upgrade.
        case aborting
    }

    /// Which process has the host's name in the hosts hash.
    enum NameHolder: Equatable { case thisProcess, predecessor, successor, nobody }

    struct Ending: Equatable {
        var nameHolder: NameHolder
        var haveChildrenEnded = false
        /// Why the process stops; nil if a signal or an operator stops it.
        var failure: CoordinatorError?
    }

    /// Whether operators and signals allow the host to take work.
    enum Participation: Equatable {
        case full
        /// The host takes no new work. Other hosts get its shards; a shard that no other host can serve stays.
        case quiet
        /// The host hands all shards over. `isQuiet` is true if the host was quiet before the drain.
        case drained(isQuiet: Bool)
    }

    private(set) var phase: Phase
    private(set) var participation = Participation.full

    init(_ role: Role) { phase = .starting(role) }

    // MARK: Questions

    var isStopping: Bool { if case .stopping = phase { true } else { false } }
    var hasChildren: Bool { if case .starting = phase { false } else { true } }
    var isUpgrading: Bool { if case .upgrading = phase { true } else { false } }
    var isAborting: Bool { phase == .upgrading(.aborting) }
    /// Whether this process hands its shards over to the successor, or has already handed them over and ends its
    /// children.
    var isHandingOver: Bool { phase == .upgrading(.handingOver) || phase == .upgrading(.endingChildren) }
    var isQuiet: Bool { participation == .quiet || participation == .drained(isQuiet: true) }
    var isDrained: Bool { if case .drained = participation { true } else { false } }
    /// Whether other hosts should take over this host's shards.
    var isLeaving: Bool { isStopping || isDrained }
    /// Whether this process does the tasks that only one process of a host may do, for example to send alerts and to
    /// search for inboxes of unknown apps.
    var actsForHost: Bool { !isStopping && nameHolder == .thisProcess }

    var nameHolder: NameHolder {
        switch phase {
        case .starting(.first), .serving, .upgrading: .thisProcess
        case .starting(.successor), .awaitingHostName: .predecessor
        case .handedOver: .successor
        case .stopping(let ending): ending.nameHolder
        }
    }

    var haveChildrenEnded: Bool { ending?.haveChildrenEnded ?? false }
    var failure: CoordinatorError? { ending?.failure }

    private var ending: Ending? { if case .stopping(let ending) = phase { ending } else { nil } }

    // MARK: Start

    /// Allows the first child to start.
    func startChildren() {
        switch phase {
        case .starting(.first): phase = .serving
        case .starting(.successor): phase = .awaitingHostName
        default: refuse("start children")
        }
    }

    /// Takes the host's name, because the predecessor has given the name up or has exited.
    func takeHostName() {
        switch phase {
        case .awaitingHostName: phase = .serving
        case .stopping(var ending) where ending.nameHolder == .predecessor:
            ending.nameHolder = .thisProcess
            phase = .stopping(ending)
        default: refuse("take the host's name")
        }
    }

    // MARK: Upgrade

    func beginUpgrade() {
        guard phase == .serving else { refuse("begin an upgrade") }
        phase = .upgrading(.preparing)
    }

    func beginHandOver() {
        guard phase == .upgrading(.preparing) else { refuse("begin to hand over") }
        phase = .upgrading(.handingOver)
    }

    /// Begins to end the children after every shard is handed over. From here on, an operator cannot abort the upgrade.
    func beginToEndChildren() {
        guard phase == .upgrading(.handingOver) else { refuse("end the children of an upgrade") }
        phase = .upgrading(.endingChildren)
    }

    /// Aborts the upgrade for an operator. An upgrade cannot be aborted after this process has begun to end its
    /// children.
    func abortUpgrade() {
        switch phase {
        case .upgrading(.preparing), .upgrading(.handingOver): phase = .upgrading(.aborting)
        case .upgrading: break
        default: refuse("abort an upgrade")
        }
    }

    /// Gives the host's name to the successor.
    func giveUpHostName() {
        switch phase {
        case .upgrading(.endingChildren): phase = .handedOver
        case .stopping(var ending):
            if ending.nameHolder == .thisProcess { ending.nameHolder = .successor }
            phase = .stopping(ending)
        default: refuse("give the host's name up")
        }
    }

    /// Takes the host's name back, because the successor did not take the name.
    func takeHostNameBack() {
        switch phase {
        case .handedOver: phase = .serving
        case .stopping(var ending):
            if ending.nameHolder == .successor { ending.nameHolder = .thisProcess }
            phase = .stopping(ending)
        default: refuse("take the host's name back")
        }
    }

    /// Ends the upgrade after a success or a failure.
    func endUpgrade() {
        if case .upgrading = phase { phase = .serving }
    }

    // MARK: Participation

    func becomeQuiet() {
        switch participation {
        case .full: participation = .quiet
        case .drained(isQuiet: false): participation = .drained(isQuiet: true)
        default: refuse("become quiet")
        }
    }

    func becomeDrained() {
        guard !isDrained else { refuse("become drained") }
        participation = .drained(isQuiet: participation == .quiet)
    }

    func resume() {
        guard participation != .full, !isStopping else { refuse("resume") }
        participation = .full
    }

    // MARK: End

    /// - Parameter failure: why the process stops; nil if a signal or an operator stops it. Only the first failure is
    ///   kept.
    func stop(because failure: CoordinatorError? = nil) {
        switch phase {
        case .starting: refuse("stop")
        case .stopping(var ending):
            ending.failure = ending.failure ?? failure
            phase = .stopping(ending)
        default: phase = .stopping(Ending(nameHolder: nameHolder, failure: failure))
        }
    }

    func childrenHaveEnded() {
        guard case .stopping(var ending) = phase else { refuse("be without children") }
        ending.haveChildrenEnded = true
        phase = .stopping(ending)
    }

    /// Forbids further heartbeats, because the host's heartbeat entry is about to be removed.
    func leaveHosts() {
        guard case .stopping(var ending) = phase, ending.nameHolder == .thisProcess else {
            refuse("leave the hosts hash")
        }
        ending.nameHolder = .nobody
        phase = .stopping(ending)
    }

    private func refuse(_ transition: String) -> Never {
        preconditionFailure("a coordinator cannot \(transition) while it is \(phase), \(participation)")
    }
}

/// Why a coordinator does not start, or stops.
package enum CoordinatorError: Error, Equatable, CustomStringConvertible {
    case evictingRedis(policy: String)
    case hostNameTaken(String)
    case stateFolderTaken(lock: String, seconds: Int)
    /// The successor exited after the hand-over. The host's shards have no owner until a coordinator starts again.
    case successorLost

    package var description: String {
        switch self {
        case .evictingRedis(let policy):
            "Redis has maxmemory-policy \(policy), which removes keys and loses pushes; set it to noeviction"
        case .successorLost:
            "the successor has ended after this coordinator handed over all shards: start the coordinator again"
        case .stateFolderTaken(let lock, let seconds):
            "another coordinator of this state folder is running (it holds \(lock) for more than \(seconds) s)"
        case .hostNameTaken(let name):
            "another coordinator with the host name \(name) is alive; give each host of the farm a different name (host: in the configuration)"
        }
    }
}
