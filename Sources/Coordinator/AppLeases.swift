import EventLoop
import FarmStore
import Logging

/// The leases of one app: its intake and its shards, as far as they are this host's.
@Loop final class AppLeases {
    private(set) var tokens: [Int: FenceToken] = [:]
    private(set) var intake: FenceToken?
    /// Something was won or lost.
    var onChange: @Loop () -> Void = {}

    private let store: AppStore
    private let host: String
    private let shards: Int
    private let log: Logger
    private var nonce: String
    private var predecessor: String
    /// Redis said that something of ours has another owner: everything is acquired anew.
    private var isDoubtful = false

    static let lease = Duration.seconds(10)
    /// Nothing is sent in a lease's last moments: clocks and calls take time.
    static let margin = Duration.seconds(2)
    static let renewInterval = Duration.seconds(3)

    init(_ store: AppStore, host: String, shards: Int, nonce: String, predecessor: String, log: Logger) {
        self.store = store
        self.host = host
        self.shards = shards
        self.nonce = nonce
        self.predecessor = predecessor
        self.log = log
    }

    var isOwner: Bool { intake != nil || !tokens.isEmpty }

    /// A script said FENCED.
    func doubt() { isDoubtful = true }

    /// Keeps what is ours and takes what is free.
    ///
    /// - Returns: whether Redis has confirmed; the leases then hold for ``lease`` from the moment before the call.
    func keep() async -> Bool {
        if isDoubtful { renounce() }
        do throws(StoreError) {
            if isOwner { try await renew() }
            if tokens.count < shards || intake == nil { try await acquire() }
            return true
        } catch {
            log.warning("leases not renewed", metadata: ["app": "\(store.keys.app)", "error": "\(error)"])
            return false
        }
    }

    /// Gives everything back, so that others need not wait.
    func leave() async {
        // Whoever comes next waits for the lease's end if this does not get through.
        _ = try? await store.perform(ReleaseLeases(nonce: nonce, fields: nil))
        forget()
    }

    /// Time is up: without Redis's confirmation nothing is ours.
    func expire() {
        guard isOwner else { return }
        log.error("leases have run out", metadata: ["app": "\(store.keys.app)"])
        forget()
    }

    private func forget() {
        tokens = [:]
        intake = nil
        onChange()
    }

    /// A new nonce makes tokens that no script has ever seen; the old one is known to be gone, for it was ours.
    private func renounce() {
        isDoubtful = false
        predecessor = nonce
        nonce = Nonce.make()
        log.notice("acquiring leases anew", metadata: ["app": "\(store.keys.app)"])
        forget()
    }

    private var owned: [LeaseField] {
        (intake == nil ? [] : [.intake]) + tokens.keys.sorted().map { .shard($0) }
    }

    private func renew() async throws(StoreError) {
        let fields = owned
        let kept = try await store.perform(
            RenewLeases(nonce: nonce, host: host, lease: Self.lease, fields: fields))
        let lost = zip(fields, kept).filter { !$0.1 }.map(\.0)
        guard !lost.isEmpty else { return }
        for field in lost {
            switch field {
            case .intake: intake = nil
            case .shard(let shard): tokens[shard] = nil
            }
        }
        log.notice("leases lost", metadata: ["app": "\(store.keys.app)", "count": "\(lost.count)"])
        onChange()
    }

    private func acquire() async throws(StoreError) {
        var fields = (0..<shards).filter { tokens[$0] == nil }.map { LeaseField.shard($0) }
        if intake == nil { fields.insert(.intake, at: 0) }
        let reply = try await store.perform(
            AcquireLeases(
                nonce: nonce, host: host, lease: Self.lease, predecessor: predecessor, fields: fields))
        var hasChanged = false
        for (field, answer) in zip(fields, reply.answers) {
            guard case .ours(let token) = answer else { continue }
            hasChanged = true
            switch field {
            case .intake: intake = token
            case .shard(let shard): tokens[shard] = token
            }
        }
        if hasChanged { onChange() }
    }
}
