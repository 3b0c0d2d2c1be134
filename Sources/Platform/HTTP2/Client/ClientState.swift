import CNghttp2
import PushModel

/// One request, from its submission until its stream ends.
struct ClientStream: StreamSlot {
    var tag: UInt32 = 0
    var id: Int32 = 0
    var status: UInt16 = 0
    var hasResponse = false
    var fields: UInt16 = 0
    var retryAfter: UInt32?
    var upload = BodyStore.Rest()
    var buffer: ResponseBuffer?
}

/// The state that libnghttp2's callbacks use. libnghttp2 passes the address of the state to each callback as user data, so a
/// callback can record an event without reference counting and without an exclusivity check.
struct ClientState: ~Copyable {
    /// A stream whose response has more header fields than this number is reset.
    private static let fieldLimit: UInt16 = 64

    var streams = SlotPool(blank: ClientStream())
    var bodies = BodyStore()
    var headers = HeaderQueue()
    var events = EventQueue<ClientEvent>()
    var keepsIdentifiers = false
    /// The number of GOAWAY frames that were requested and are not sent yet.
    var goAwaysQueued = 0
    private(set) var peer: PeerSettings?
    private(set) var isGoingAway = false
    private var freeBuffers: [ResponseBuffer] = []
    /// The buffers of events that the caller is reading or has not read yet.
    private var usedBuffers: [ResponseBuffer] = []

    deinit {
        for buffer in freeBuffers { buffer.deallocate() }
        for buffer in usedBuffers { buffer.deallocate() }
        for slot in streams.all(where: { $0.buffer != nil }) { slot.pointee.buffer?.deallocate() }
    }

    mutating func nextEvent() -> ClientEvent? {
        if let event = events.popFirst() { return event }
        for buffer in usedBuffers {
            buffer.clear()
            freeBuffers.append(buffer)
        }
        usedBuffers.removeAll(keepingCapacity: true)
        return nil
    }

    /// Releases the bodies of open streams. Call this function before the state is destroyed.
    mutating func close() {
        for slot in streams.all() { bodies.release(&slot.pointee.upload) }
    }

    // MARK: Callbacks

    /// Reads a number of at most nine digits; nil for any other text.
    private static func number(_ text: UnsafeRawBufferPointer) -> UInt32? {
        guard text.count <= 9, let number = Decimal.read(text) else { return nil }
        return UInt32(exactly: number)
    }

    mutating func header(
        of id: Int32, in session: OpaquePointer, name: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
    ) -> Int32 {
        guard let stream = streams.find(id, in: session) else { return 0 }
        stream.pointee.fields += 1
        if stream.pointee.fields > Self.fieldLimit { return Frame.refuseThisStream }
        switch ResponseField(name) {
        case .status: stream.pointee.status = Self.number(value).map { UInt16(truncatingIfNeeded: $0) } ?? 0
        case .retryAfter: stream.pointee.retryAfter = Self.number(value)
        case .messageID: if keepsIdentifiers { buffer(of: stream).setMessageID(value) }
        case .uniqueID: if keepsIdentifiers { buffer(of: stream).setUniqueID(value) }
        case nil: break
        }
        return 0
    }

    mutating func body(of id: Int32, in session: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 0, let stream = streams.find(id, in: session) else { return }
        buffer(of: stream).appendBody(bytes)
    }

    mutating func received(_ frame: UnsafePointer<nghttp2_frame>, in session: OpaquePointer) {
        let head = frame.pointee.hd
        switch head.type {
        case Frame.headers, Frame.data:
            if head.flags & Frame.endStream != 0 { responded(head.stream_id, in: session) }
        case Frame.settings where head.flags & Frame.acknowledged == 0:
            let settings = PeerSettings(of: session)
            peer = settings
            headers.limitTable(to: Int(settings.headerTableSize))
            events.append(.settings(settings))
        case Frame.ping where head.flags & Frame.acknowledged != 0:
            events.append(.pong(frame.pingNumber))
        case Frame.goAway:
            isGoingAway = true
            events.append(
                .goAway(
                    lastStream: frame.pointee.goaway.last_stream_id, code: frame.pointee.goaway.error_code,
                    debug: Array(frame.goAwayDebug.prefix(ResponseBuffer.bodyLimit))))
        default: break
        }
    }

    mutating func sent(_ frame: UnsafePointer<nghttp2_frame>) {
        guard frame.pointee.hd.type == Frame.goAway else { return }
        isGoingAway = true
        if goAwaysQueued > 0 {
            goAwaysQueued -= 1
        } else {
            let text = String(decoding: frame.goAwayDebug, as: UTF8.self)
            events.append(.failed(.violation(code: frame.pointee.goaway.error_code, text: text)))
        }
    }

    /// Handles a request that libnghttp2 did not send, because the caller reset its stream or the peer sent GOAWAY.
    mutating func notSent(_ frame: UnsafePointer<nghttp2_frame>, in session: OpaquePointer) {
        let head = frame.pointee.hd
        if head.type == Frame.headers { cancelled(head.stream_id, in: session) }
    }

    /// Ends a stream whose request will not be sent. If libnghttp2 knows the stream, this function does nothing, because
    /// libnghttp2 will report the end of the stream.
    mutating func cancelled(_ id: Int32, in session: OpaquePointer) {
        guard nghttp2_session_find_stream(session, id) == nil else { return }
        for slot in streams.all(where: { $0.id == id }) {
            end(slot, code: ErrorCode.refusedStream, unprocessed: true)
        }
    }

    mutating func closed(_ id: Int32, code: UInt32, in session: OpaquePointer) {
        guard let stream = streams.find(id, in: session) else { return }
        end(stream, code: code, unprocessed: code == ErrorCode.refusedStream)
    }

    /// Ends every open stream because the connection is lost.
    mutating func abandon(in session: OpaquePointer) {
        for slot in streams.all() {
            let wasSent = nghttp2_session_find_stream(session, slot.pointee.id) != nil
            end(slot, code: ErrorCode.cancel, unprocessed: !wasSent)
        }
    }

    // MARK: Streams

    private mutating func responded(_ id: Int32, in session: OpaquePointer) {
        guard let stream = streams.find(id, in: session), !stream.pointee.hasResponse else { return }
        stream.pointee.hasResponse = true
        if let buffer = stream.pointee.buffer { usedBuffers.append(buffer) }
        events.append(
            .responded(
                Response(
                    tag: stream.pointee.tag, stream: id, status: stream.pointee.status,
                    retryAfter: stream.pointee.retryAfter, buffer: stream.pointee.buffer)))
        stream.pointee.buffer = nil
        if stream.pointee.upload.count > 0 {
            // The response came before the request's body was sent completely. The peer does not need the remaining body, so the
            // stream is reset.
            nghttp2_submit_rst_stream(session, 0, id, ErrorCode.cancel)
        }
    }

    private mutating func end(_ slot: UnsafeMutablePointer<ClientStream>, code: UInt32, unprocessed: Bool) {
        if !slot.pointee.hasResponse {
            events.append(
                .closed(tag: slot.pointee.tag, stream: slot.pointee.id, code: code, unprocessed: unprocessed))
        }
        if let buffer = slot.pointee.buffer {
            buffer.clear()
            freeBuffers.append(buffer)
        }
        bodies.release(&slot.pointee.upload)
        streams.release(slot)
    }

    private mutating func buffer(of stream: UnsafeMutablePointer<ClientStream>) -> ResponseBuffer {
        if let buffer = stream.pointee.buffer { return buffer }
        let buffer = freeBuffers.popLast() ?? ResponseBuffer.allocate()
        stream.pointee.buffer = buffer
        return buffer
    }
}
