import APNs
import ControlChannel
import EventLoop
import FarmStore
import PushModel
import TLS
import Transport

/// Reads an app's feedback service once, to its end.
///
/// What was read is gone there for good. So every tuple goes to Redis, in portions and one at a time, and nothing more is read
/// from the socket while a portion is on its way.
@Loop final class FeedbackReading {
    private let order: FeedbackOrder
    private let scope: SuppressionScope
    private let store: AppStore
    private let ended: @Loop (_ tuples: Int, _ error: String) -> Void
    private var stream: ByteStream?
    private var reader = FeedbackTuple.Reader()
    private var waiting: [FeedbackTuple] = []
    private var stored = 0
    private var portions = 0
    private var isStoring = false
    /// Why no more comes; "" in order.
    private var end: String?
    private lazy var silence = Timer { [unowned self] in finish("") }

    private static let portion = 500
    private static let dialTimeout = Duration.seconds(20)
    /// A service that has told everything may keep the connection.
    private static let silenceLimit = Duration.seconds(5)

    /// - Parameter ended: called once, with how many tuples Redis has, and why they are not all, or "".
    init(
        _ order: FeedbackOrder, scope: SuppressionScope, store: AppStore,
        ended: @escaping @Loop (_ tuples: Int, _ error: String) -> Void
    ) {
        (self.order, self.scope, self.store, self.ended) = (order, scope, store, ended)
    }

    /// - Parameter proxy: an HTTP proxy on the way.
    func start(_ tls: TLSContext, proxy: Endpoint?) {
        Task { @Loop in
            let dial = Dial(
                .tcp(host: order.host, port: order.port), tls: tls, proxy: proxy, timeout: Self.dialTimeout)
            do throws(TransportError) { listen(try await dial.connect()) } catch { finish("\(error)") }
        }
    }

    private func listen(_ stream: ByteStream) {
        self.stream = stream
        stream.onBytes = { [weak self] in self?.take($0) }
        stream.onEnd = { [weak self] in self?.streamEnded($0) }
        silence.start(after: Self.silenceLimit)
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        guard end == nil else { return }
        do throws(FeedbackTuple.Fault) {
            try reader.read(bytes) { waiting.append($0) }
        } catch {
            return finish("\(error)")
        }
        store(isLast: false)
    }

    private func streamEnded(_ end: StreamEnd) {
        switch end {
        case .closed: finish("")
        case .failed(let error): finish("\(error)")
        }
    }

    private func finish(_ error: String) {
        guard end == nil else { return }
        let isCut = error.isEmpty && reader.pending > 0
        end = isCut ? "it ended within a tuple" : error
        silence.stop()
        stream?.close()
        stream = nil
        store(isLast: true)
    }

    /// Brings what waits to Redis, a portion after the other; the rest of what a read brought waits until there is a whole
    /// portion or nothing more to read.
    private func store(isLast: Bool) {
        guard !isStoring else { return }
        guard !waiting.isEmpty else {
            if let end { ended(stored, end) } else { listenOn() }
            return
        }
        isStoring = true
        stream?.isReading = false
        silence.stop()
        let some = waiting.prefix(Self.portion)
        portions += 1
        let request = Suppress(
            some.map(entry), scopes: [scope], limit: order.limit, writer: order.reading,
            step: portions)
        let count = some.count
        Task { @Loop in
            do throws(StoreError) {
                _ = try await store.performPatiently(request)
                stored += count
                waiting.removeFirst(count)
            } catch {
                // It will not be taken, however often it is said.
                waiting = []
                end = end.map { $0.isEmpty ? "\(error)" : $0 } ?? "\(error)"
                stream?.close()
                stream = nil
            }
            isStoring = false
            store(isLast: isLast)
        }
    }

    private func listenOn() {
        stream?.isReading = true
        silence.start(after: Self.silenceLimit)
    }

    private func entry(_ tuple: FeedbackTuple) -> Suppress.Entry {
        var event = FarmEvent(.tokenDead)
        event.add("token", hex: tuple.token[...])
        event.add("reason", SuppressionReason.feedback.name)
        event.add("timestamp", "\(Int64(tuple.time) * 1000)")
        return Suppress.Entry(
            shard: ShardHash.shard(of: tuple.token, shards: order.shards),
            record: SuppressionRecord(
                reason: .feedback, scope: scope.number, time: Int64(tuple.time), token: tuple.token[...]),
            event: event)
    }
}
