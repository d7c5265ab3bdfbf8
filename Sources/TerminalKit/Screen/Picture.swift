import Foundation

/// A picture that covers whole cells of a frame, for terminals that can show pictures.
public struct Picture: Hashable, Sendable {
    /// The bytes of a PNG file.
    public let png: Data
    /// The position and size in cells of the frame.
    public let frame: Rect

    /// Creates a picture over the cells of `frame`.
    public init(png: Data, frame: Rect) {
        self.png = png
        self.frame = frame
    }
}

/// Pictures in kitty's protocol, which other terminals support too. Files are sent in base64, in pieces.
struct KittyGraphics {
    /// The maximum size in bytes: larger files take too long over a slow connection.
    static let greatestPicture = 2 << 20
    private static let piece = 4096
    private var shown: [Picture] = []

    /// True if the environment belongs to a terminal that supports the protocol.
    static func isKnown(to environment: [String: String]) -> Bool {
        // A multiplexer does not pass the bytes to the outer terminal.
        guard environment["TMUX"] == nil, environment["STY"] == nil else { return false }
        let type = environment["TERM"] ?? ""
        let program = (environment["TERM_PROGRAM"] ?? "").lowercased()
        return type.contains("kitty") || type.contains("ghostty") || environment["KITTY_WINDOW_ID"] != nil
            || ["wezterm", "ghostty"].contains(program)
    }

    /// The text to send so that exactly `pictures` are on the screen; empty if they already are.
    mutating func text(toShow pictures: [Picture]) -> String {
        guard pictures != shown else { return "" }
        shown = pictures
        // Deletes all pictures of this program and sends the new ones. The cursor position is saved and restored.
        var text = "\u{1B}7\u{1B}_Ga=d,d=A,q=2\u{1B}\\"
        for picture in pictures where picture.png.count <= Self.greatestPicture {
            text += "\u{1B}[\(picture.frame.minY + 1);\(picture.frame.minX + 1)H" + Self.transmission(of: picture)
        }
        return text + "\u{1B}8"
    }

    /// Resets the state after the screen was cleared.
    mutating func forget() { shown = [] }

    private static func transmission(of picture: Picture) -> String {
        let code = Array(picture.png.base64EncodedString().utf8)
        var text = ""
        for start in stride(from: 0, to: max(1, code.count), by: piece) {
            let end = min(code.count, start + piece)
            let more = end < code.count ? 1 : 0
            let head =
                start == 0
                ? "a=T,f=100,q=2,C=1,c=\(picture.frame.width),r=\(picture.frame.height),m=\(more)" : "m=\(more),q=2"
            text += "\u{1B}_G\(head);" + String(decoding: code[start..<end], as: UTF8.self) + "\u{1B}\\"
        }
        return text
    }
}
