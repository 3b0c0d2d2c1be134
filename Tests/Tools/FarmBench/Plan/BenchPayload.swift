/// Payloads of 200 bytes with an alert.
package enum BenchPayload {
    package static let length = 200

    /// Appends a payload that differs for each place; or, if `place` is nil, the same payload for all pushes.
    package static func append(_ place: Int?, to text: inout [UInt8]) {
        let start = text.count
        text += Array(#"{"aps":{"alert":""#.utf8)
        if let place { text += Array("No. \(place): ".utf8) }
        let news = Array("News of the day. ".utf8)
        let end = start + length - 3
        while text.count < end { text.append(news[(text.count - start) % news.count]) }
        text += Array(#""}}"#.utf8)
    }

    /// Appends a payload with the placeholder `n`. Rendered, it has about `length` bytes.
    package static func appendTemplate(to text: inout [UInt8]) {
        text += Array(#"{"aps":{"alert":"No. {{n}}: "#.utf8)
        let news = Array("News of the day. ".utf8)
        for offset in 0..<length - 32 { text.append(news[offset % news.count]) }
        text += Array(#""}}"#.utf8)
    }

    package static var bytes: [UInt8] {
        var bytes: [UInt8] = []
        append(nil, to: &bytes)
        return bytes
    }
}
