import CNghttp2

/// One stream that a client opened, until it is closed.
struct ServerStream: StreamSlot {
    var id: Int32 = 0
    var isRequested = false
    var hasResponse = false
    var content: UnsafeMutablePointer<RequestContent>?
    var responseBody = BodyStore.Rest()
}

/// The state that libnghttp2's callbacks use. The state has a stable address, like ``ClientState``.
struct ServerState: ~Copyable {
    var streams = SlotPool(blank: ServerStream())
    var bodies = BodyStore()
    var headers = HeaderQueue()
    var goAwaysQueued = 0
    var streamUse = StreamUseCheck()
    private let bodyLimit: Int
    /// The maximum size of a request's header list in bytes, counted as in RFC 9113, section 6.5.2.
    private let headerListLimit: Int
    /// The debug text of the GOAWAY for a client that opens too many streams; nil uses libnghttp2's own text.
    private let streamLimitText: String?
    private var hasTooManyStreams = false
    /// The memory of the GOAWAY frame with ``streamLimitText``.
    private var streamLimitFrame = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var events = EventQueue<ServerEvent>()
    private var contentsFree: [UnsafeMutablePointer<RequestContent>] = []
    /// The content of the request that the caller has read last. The next call of ``nextEvent()`` reuses its memory.
    private var contentOut: UnsafeMutablePointer<RequestContent>?

    init(bodyLimit: Int, headerListLimit: Int?, streamLimitText: String?) {
        self.bodyLimit = bodyLimit
        self.headerListLimit = headerListLimit ?? RequestContent.headerListLimit
        self.streamLimitText = streamLimitText
    }

    deinit {
        streamLimitFrame.deallocate()
        var contents = contentsFree + streams.all(where: { $0.content != nil }).map { $0.pointee.content! }
        if let contentOut { contents.append(contentOut) }
        var events = events
        while let event = events.popFirst() {
            if case .request(let request) = event { contents.append(request.content) }
        }
        for content in contents {
            content.pointee.deallocate()
            content.deallocate()
        }
    }

    mutating func nextEvent() -> ServerEvent? {
        if let content = contentOut { recycle(content) }
        contentOut = nil
        let event = events.popFirst()
        if case .request(let request) = event { contentOut = request.content }
        return event
    }

    /// Releases the bodies of open streams. Call this function before the state is destroyed.
    mutating func close() {
        for slot in streams.all() { bodies.release(&slot.pointee.responseBody) }
    }

    // MARK: Callbacks

    mutating func begins(_ frame: UnsafePointer<nghttp2_frame>, in session: OpaquePointer) {
        guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST else { return }
        let slot = streams.take()
        slot.pointee.id = frame.pointee.hd.stream_id
        slot.pointee.content = takeContent()
        nghttp2_session_set_stream_user_data(session, slot.pointee.id, slot)
    }

    mutating func header(
        _ frame: UnsafePointer<nghttp2_frame>, in session: OpaquePointer, name: UnsafeRawBufferPointer,
        value: UnsafeRawBufferPointer
    ) -> Int32 {
        guard frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST,
            let content = streams.find(frame.pointee.hd.stream_id, in: session)?.pointee.content
        else { return 0 }
        if content.pointee.add(name: name, value: value, limit: headerListLimit) { return 0 }
        events.append(.refused(stream: frame.pointee.hd.stream_id, why: .headerListTooLarge))
        return Frame.refuseThisStream
    }

    mutating func body(of id: Int32, in session: OpaquePointer, _ bytes: UnsafeRawBufferPointer) {
        streams.find(id, in: session)?.pointee.content?.pointee.addBody(bytes, limit: bodyLimit)
    }

    mutating func received(_ frame: UnsafePointer<nghttp2_frame>, in session: OpaquePointer) {
        let head = frame.pointee.hd
        switch head.type {
        case Frame.headers, Frame.data:
            if head.flags & Frame.endStream != 0 { requested(head.stream_id, in: session) }
        case Frame.settings where head.flags & Frame.acknowledged == 0:
            let settings = PeerSettings(of: session)
            headers.limitTable(to: Int(settings.headerTableSize))
            events.append(.settings(settings))
        case Frame.ping where head.flags & Frame.acknowledged == 0:
            events.append(.ping(frame.pingNumber))
        case Frame.goAway:
            events.append(
                .goAway(code: frame.pointee.goaway.error_code, debug: Array(frame.goAwayDebug.prefix(1_024))))
        default: break
        }
    }

    mutating func rejected(_ frame: UnsafePointer<nghttp2_frame>, error: Int32, in session: OpaquePointer) {
        let head = frame.pointee.hd
        guard head.type == Frame.headers else { return }
        if error == NGHTTP2_ERR_REFUSED_STREAM.rawValue {
            events.append(.refused(stream: head.stream_id, why: .aboveLimit))
        } else if error == NGHTTP2_ERR_PROTO.rawValue, frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST {
            let limit = nghttp2_session_get_local_settings(session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
            hasTooManyStreams = streams.used >= Int(limit)
        }
    }

    /// Returns the GOAWAY frame that libnghttp2 made. If the client opened too many streams, returns this frame with the debug
    /// text ``streamLimitText``. The returned bytes are valid until the next call.
    mutating func goAwayFrame(insteadOf frame: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
        guard hasTooManyStreams, let text = streamLimitText else { return frame }
        streamLimitFrame.deallocate()
        let length = Frame.goAwayHead - 9 + text.utf8.count
        streamLimitFrame = .allocate(byteCount: 9 + length, alignment: 1)
        streamLimitFrame.copyMemory(from: UnsafeRawBufferPointer(rebasing: frame[..<Frame.goAwayHead]))
        for index in 0..<3 { streamLimitFrame[index] = UInt8(truncatingIfNeeded: length >> (16 - 8 * index)) }
        UnsafeMutableRawBufferPointer(rebasing: streamLimitFrame[Frame.goAwayHead...])
            .copyBytes(from: text.utf8)
        return UnsafeRawBufferPointer(streamLimitFrame)
    }

    mutating func sent(_ frame: UnsafePointer<nghttp2_frame>) {
        guard frame.pointee.hd.type == Frame.goAway else { return }
        if goAwaysQueued > 0 {
            goAwaysQueued -= 1
        } else {
            let ours = hasTooManyStreams ? streamLimitText : nil
            let text = ours ?? String(decoding: frame.goAwayDebug, as: UTF8.self)
            events.append(.failed(.violation(code: frame.pointee.goaway.error_code, text: text)))
        }
    }

    mutating func closed(_ id: Int32, code: UInt32, in session: OpaquePointer) {
        guard let slot = streams.find(id, in: session) else { return }
        if code != ErrorCode.none || !slot.pointee.hasResponse {
            events.append(.closed(stream: id, code: code, wasRequested: slot.pointee.isRequested))
        }
        if let content = slot.pointee.content { recycle(content) }
        bodies.release(&slot.pointee.responseBody)
        streams.release(slot)
    }

    // MARK: Streams

    private mutating func requested(_ id: Int32, in session: OpaquePointer) {
        guard let slot = streams.find(id, in: session), let content = slot.pointee.content else { return }
        slot.pointee.isRequested = true
        slot.pointee.content = nil
        events.append(.request(ServerRequest(stream: id, content: content)))
    }

    private mutating func takeContent() -> UnsafeMutablePointer<RequestContent> {
        if let content = contentsFree.popLast() { return content }
        let content = UnsafeMutablePointer<RequestContent>.allocate(capacity: 1)
        content.initialize(to: RequestContent())
        return content
    }

    private mutating func recycle(_ content: UnsafeMutablePointer<RequestContent>) {
        content.pointee.clear()
        contentsFree.append(content)
    }
}
