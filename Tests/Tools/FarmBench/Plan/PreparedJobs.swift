/// Jobs as the bytes of RPUSH commands, prepared before the measurement starts.
package struct PreparedJobs: Sendable {
    /// With `samePayload`, all pushes of a job share a payload. With `payloadEach`, each push has its own payload. With `values`,
    /// the job has a template, and each push has values that make the same payloads as `payloadEach`.
    package enum Kind: Sendable { case samePayload, payloadEach, values }

    /// Pieces of several commands that are sent at once.
    package private(set) var pieces: [(bytes: [UInt8], commands: Int)] = []
    package private(set) var ids: [String] = []
    package let pushes: Int

    /// - Parameters:
    ///   - name: the prefix of the job ids.
    ///   - first: the number of the first token in the sequence of ``BenchTokens``.
    ///   - fields: more fields of each job, as JSON members without the outer braces.
    package init(
        _ name: String, pushes: Int, jobSize: Int, kind: Kind = .samePayload, first: Int = 0,
        fields: String = ""
    ) {
        self.pushes = pushes
        // A piece has at most 500 jobs and about 16,000 pushes, which is about a megabyte of tokens.
        let perPiece = max(1, min(500, 16_000 / jobSize))
        var (piece, commands) = ([UInt8](), 0)
        for start in stride(from: 0, to: pushes, by: jobSize) {
            let id = "\(name)-\(start)"
            ids.append(id)
            let places = (first + start)..<(first + min(start + jobSize, pushes))
            Self.append(Self.job(id, places, kind, fields), to: &piece)
            commands += 1
            if commands == perPiece {
                pieces.append((piece, commands))
                (piece, commands) = ([], 0)
            }
        }
        if commands > 0 { pieces.append((piece, commands)) }
    }

    private static func job(_ id: String, _ places: Range<Int>, _ kind: Kind, _ fields: String) -> [UInt8] {
        var text = Array(#"{"id":"\#(id)""#.utf8)
        text.reserveCapacity(places.count * (kind == .payloadEach ? 300 : 70) + 400)
        if !fields.isEmpty { text += Array(("," + fields).utf8) }
        switch kind {
        case .samePayload:
            text += Array(#","payload":"#.utf8)
            BenchPayload.append(nil, to: &text)
            text += Array(#","tokens":["#.utf8)
            for place in places {
                text.append(UInt8(ascii: "\""))
                BenchTokens.append(place, to: &text)
                text += [UInt8(ascii: "\""), UInt8(ascii: ",")]
            }
        case .payloadEach:
            text += Array(#","pushes":["#.utf8)
            for place in places {
                text += Array(#"{"token":""#.utf8)
                BenchTokens.append(place, to: &text)
                text += Array(#"","payload":"#.utf8)
                BenchPayload.append(place, to: &text)
                text += Array("},".utf8)
            }
        case .values:
            text += Array(#","payload":"#.utf8)
            BenchPayload.appendTemplate(to: &text)
            text += Array(#","pushes":["#.utf8)
            for place in places {
                text += Array(#"{"token":""#.utf8)
                BenchTokens.append(place, to: &text)
                text += Array(#"","values":{"n":\#(place)}},"#.utf8)
            }
        }
        text[text.count - 1] = UInt8(ascii: "]")
        text.append(UInt8(ascii: "}"))
        return text
    }

    private static func append(_ job: [UInt8], to bytes: inout [UInt8]) {
        bytes += Array("*3\r\n$5\r\nRPUSH\r\n$13\r\npushfarm:demo\r\n$\(job.count)\r\n".utf8)
        bytes += job
        bytes += Array("\r\n".utf8)
    }
}
