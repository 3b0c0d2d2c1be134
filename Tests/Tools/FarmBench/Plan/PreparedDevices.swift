/// Device inputs as the bytes of RPUSH commands. A device's place determines its id, token, language and tag.
package struct PreparedDevices: Sendable {
    /// The number of devices of a command.
    package static let piece = 1_000

    private static let languages = ["en", "en", "en", "de", "ja"]
    private static let tags = 20

    /// One RPUSH command for the devices of some places.
    package static func command(_ places: Range<Int>, platform: String = "ios") -> [UInt8] {
        let key = "{pushfarm:demo}:devices"
        var bytes = Array("*\(places.count + 2)\r\n$5\r\nRPUSH\r\n$\(key.utf8.count)\r\n\(key)\r\n".utf8)
        bytes.reserveCapacity(places.count * 160)
        for place in places {
            let device = input(place, platform)
            bytes += Array("$\(device.count)\r\n".utf8)
            bytes += device
            bytes += Array("\r\n".utf8)
        }
        return bytes
    }

    private static func input(_ place: Int, _ platform: String) -> [UInt8] {
        var text = Array(#"{"id":"device-\#(place)","token":""#.utf8)
        BenchTokens.append(place, to: &text)
        let language = languages[place % languages.count]
        text += Array(
            #"","lang":"\#(language)","platform":"\#(platform)","tags":["tag-\#(place % tags)"]}"#.utf8)
        return text
    }
}
